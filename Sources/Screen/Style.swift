/// How a piece of text looks.
public struct Style: Equatable, Sendable {
  /// The colour, nil for the terminal's own.
  public var colour: Colour?
  /// Heavier than the rest.
  public var isBold: Bool
  /// Fainter than the rest.
  public var isDim: Bool
  /// Foreground and background change places.
  public var isReversed = false

  /// - Parameter colour: nil for the terminal's own.
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
  /// - Parameter text: text without controls.
  public func apply(to text: some StringProtocol, depth: ColourDepth) -> String {
    let codes = text.isEmpty ? "" : codes(depth: depth)
    return codes.isEmpty ? String(text) : "\(codes)\(text)\(Self.reset)"
  }

  static let reset = "\u{1b}[0m"

  func codes(depth: ColourDepth) -> String {
    guard depth != .none, self != .plain else { return "" }
    var codes = "\u{1b}["
    func add(_ code: String) {
      if codes.utf8.count > 2 { codes += ";" }
      codes += code
    }
    if isBold { add("1") }
    if isDim { add("2") }
    if isReversed { add("7") }
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

/// A colour of the sRGB space and the one of the 16 that stands for it.
public struct Colour: Equatable, Sendable {
  /// Components, 0 to 255.
  public let red: UInt8, green: UInt8, blue: UInt8
  /// The SGR number for a foreground of the 16 colours: 30 to 37, 90 to 97, or
  /// 39 for the terminal's own.
  public let basic: UInt8

  /// - Parameters:
  ///   - hex: `0xRRGGBB`.
  ///   - basic: the SGR number for terminals with 16 colours.
  public init(_ hex: UInt32, basic: UInt8) {
    red = UInt8(hex >> 16 & 0xff)
    green = UInt8(hex >> 8 & 0xff)
    blue = UInt8(hex & 0xff)
    self.basic = basic
  }

  /// The nearest of the 256 colours: 16 to 231 are a cube of six levels an
  /// axis, 232 to 255 greys.
  public var indexed: UInt8 {
    // The levels are 0, 95, 135, 175, 215, 255; half-way goes down.
    func nearest(_ component: UInt8) -> Int {
      component < 48 ? 0 : component < 116 ? 1 : (Int(component) - 36) / 40
    }
    func level(_ step: Int) -> Int { step == 0 ? 0 : 55 + 40 * step }
    let (r, g, b) = (nearest(red), nearest(green), nearest(blue))
    let mean = (Int(red) + Int(green) + Int(blue)) / 3
    let step = min(max((mean - 8 + 5) / 10, 0), 23)
    let grey = 8 + 10 * step
    let cubeDistance = distance(level(r), level(g), level(b))
    return distance(grey, grey, grey) < cubeDistance
      ? UInt8(232 + step) : UInt8(16 + 36 * r + 6 * g + b)
  }

  private func distance(_ r: Int, _ g: Int, _ b: Int) -> Int {
    let (dr, dg, db) = (r - Int(red), g - Int(green), b - Int(blue))
    return dr * dr + dg * dg + db * db
  }
}

/// How many colours may be written.
public enum ColourDepth: Equatable, Sendable {
  /// No escape sequence at all.
  case none
  /// The 16 colours of ISO 6429 and aixterm.
  case basic
  /// The 256 indexed colours of xterm.
  case indexed
  /// 24 bits.
  case truecolor

  /// When a command colours: the argument of `--color`.
  public enum When: String, CaseIterable, Sendable {
    case auto, always, never
  }

  /// The depth for an output.
  ///
  /// `auto` colours a terminal unless NO_COLOR (no-color.org) is set and not
  /// empty, or TERM is `dumb` or unset; `always` colours in any case. The depth is that of
  /// COLORTERM (`truecolor`, `24bit`), else of TERM (`*-direct`, `*256color`), else 16.
  public static func detect(
    _ when: When, isTerminal: Bool, environment: (String) -> String?
  ) -> ColourDepth {
    let terminal = environment("TERM")
    switch when {
    case .never: return .none
    case .always: break
    case .auto:
      guard isTerminal, environment("NO_COLOR") == nil, let terminal, terminal != "dumb" else {
        return .none
      }
    }
    if let kind = environment("COLORTERM"), kind == "truecolor" || kind == "24bit" {
      return .truecolor
    }
    guard let terminal else { return .basic }
    if terminal.hasSuffix("-direct") { return .truecolor }
    return terminal.hasSuffix("256color") ? .indexed : .basic
  }
}
