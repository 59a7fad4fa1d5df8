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
    guard depth != .none, self != .plain, !text.isEmpty else { return String(text) }
    var codes: [String] = []
    if isBold { codes.append("1") }
    if isDim { codes.append("2") }
    if let colour {
      switch depth {
      case .none: break
      case .basic: codes.append("\(colour.basic)")
      case .indexed: codes.append("38;5;\(colour.indexed)")
      case .truecolor: codes.append("38;2;\(colour.red);\(colour.green);\(colour.blue)")
      }
    }
    return "\u{1b}[\(codes.joined(separator: ";"))m\(text)\u{1b}[0m"
  }
}
