public import Core

/// The options that say how wide and how coloured rows are.
public struct LookOptions: Sendable {
  /// Columns; 0 for no limit; nil for the terminal's.
  public var width: Int?
  /// When to colour.
  public var colour = ColourDepth.When.auto
  /// Whether TSV begins with the names of its columns.
  public var hasHeader = false

  /// Nothing given.
  public init() {}

  /// The most cells of a line: as asked for, else the terminal's; nil for any.
  public func width(on descriptor: Int32, isTerminal: Bool) -> Int? {
    if let width { return width == 0 ? nil : width }
    return isTerminal ? WindowSize.told(by: descriptor)?.columns : nil
  }

  /// `--color`.
  public static let colour = Option<LookOptions>(
    nil, "color", "WHEN", "auto, always or never", .choice(of: ColourDepth.When.self)
  ) { $0.colour = $1 }.rare

  /// `--header`, of a command that lists.
  public static let header = Option<LookOptions>(
    nil, "header", "with -o tsv: the names of the columns first"
  ) { $0.hasHeader = true }.rare

  /// The width and the colour.
  public static func options(
    width help: String, in widths: ClosedRange<Int> = 0...100_000
  ) -> [Option<LookOptions>] {
    [
      Option("W", "width", "COLUMNS", help, .wholeNumber(in: widths)) { $0.width = $1 }.rare,
      colour,
    ]
  }
}
