/// How a piece of text looks.
public struct Style: Equatable, Sendable {
  /// The colour, nil for the terminal's own.
  public var colour: Colour?
  /// Heavier than the rest.
  public var isBold: Bool
  /// Fainter than the rest.
  public var isDim: Bool

  /// - Parameters:
  ///   - colour: nil for the terminal's own.
  ///   - bold: heavier than the rest.
  ///   - dim: fainter than the rest.
  public init(_ colour: Colour? = nil, bold: Bool = false, dim: Bool = false) {
    self.colour = colour
    isBold = bold
    isDim = dim
  }

  /// As the terminal writes by itself.
  public static let plain = Style()
  /// For what the eye may skip.
  public static let dim = Style(dim: true)
  /// For what the eye should find.
  public static let bold = Style(bold: true)

  /// The text between the escape sequences (SGR, ECMA-48 8.3.117) that turn
  /// this style on and off; the text alone when there are none to write.
  ///
  /// - Parameters:
  ///   - text: text without controls.
  ///   - depth: the colours that the terminal knows.
  public func apply(to text: some StringProtocol, depth: ColourDepth) -> String {
    let codes = text.isEmpty ? "" : codes(depth: depth)
    return codes.isEmpty ? String(text) : "\(codes)\(text)\(Self.reset)"
  }

  /// Turns everything off.
  static let reset = "\u{1b}[0m"

  /// The sequence that turns this style on; empty when there is nothing to turn on.
  func codes(depth: ColourDepth) -> String {
    guard depth != .none, self != .plain else { return "" }
    var codes = "\u{1b}["
    func add(_ code: String) {
      if codes.utf8.count > 2 { codes += ";" }
      codes += code
    }
    if isBold { add("1") }
    if isDim { add("2") }
    if let colour {
      switch depth {
      case .none: break
      case .basic: add(String(colour.basic))
      case .indexed: add("38;5;" + String(colour.indexed))
      case .truecolor:
        add("38;2;")
        codes += String(colour.red) + ";" + String(colour.green) + ";" + String(colour.blue)
      }
    }
    return codes + "m"
  }
}
