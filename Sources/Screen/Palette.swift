import Core
public import Records

/// The dashboard's colours by domain, and a mark for each, so that a row is
/// known without colour too.
///
/// The colours are the dashboard's where they can be read on a dark ground;
/// the four that cannot (`voice`, `llm`, `text`, `browser`) are lightened to a
/// neighbour of the same hue that a light ground bears too, and domains that
/// the dashboard has no colour for take a hue that is free.
public enum Palette {
  private static func look(of domain: ActionDomain) -> (rgb: UInt32, basic: UInt8, mark: String) {
    switch domain {
    case .llm: (0x8b5cf6, 35, "◆")
    case .voice: (0x7c93b5, 94, "♪")
    case .asr: (0x38bdf8, 36, "◂")
    case .tts: (0x06b6d4, 36, "▸")
    case .text: (0x8e949c, 39, "»")
    case .memory: (0x78716c, 37, "■")
    case .browser: (0x6366f1, 34, "◎")
    case .media: (0xbe185d, 95, "▣")
    case .code: (0xca8a04, 93, "λ")
    case .discovery: (0x0d9488, 96, "○")
    case .automation: (0x65a30d, 92, "↻")
    case .initiative: (0xc026d3, 95, "✦")
    case .system: (0x9ca3af, 37, "·")
    case .other: (0x9ca3af, 37, "?")
    }
  }

  /// The colour of a domain.
  public static func colour(of domain: ActionDomain) -> Colour {
    let look = look(of: domain)
    return Colour(look.rgb, basic: look.basic)
  }

  /// The mark of a domain: one cell.
  public static func mark(of domain: ActionDomain) -> String { look(of: domain).mark }

  /// The use of a tool, whatever its domain.
  public static let tool = Colour(0x059669, basic: 32)
  /// Failures.
  public static let error = Colour(0xdc2626, basic: 31)
  /// What is slow, dear or odd.
  public static let warning = Colour(0xd97706, basic: 33)
  /// What is well.
  public static let positive = Colour(0x16a34a, basic: 32)

  /// Colours for names that have none of their own, easily told apart.
  public static let names = [
    Colour(0x38bdf8, basic: 36), Colour(0xca8a04, basic: 33), Colour(0xc026d3, basic: 35),
    Colour(0x65a30d, basic: 32), Colour(0x6366f1, basic: 34), Colour(0xf472b6, basic: 95),
    Colour(0x0d9488, basic: 96), Colour(0xfb923c, basic: 93),
  ]

  /// The mark of a failure.
  public static let errorMark = "✗"
  /// The mark of a warning.
  public static let warningMark = "!"
}

extension Style {
  /// The use of a tool.
  public static let tool = Style(Palette.tool)
  /// What is well.
  public static let positive = Style(Palette.positive)
  /// What is slow, dear or odd.
  public static let warning = Style(Palette.warning)
  /// Failures.
  public static let error = Style(Palette.error)
}
