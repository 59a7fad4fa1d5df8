import Core

/// Says which lines are bad: the first ten, then how many more.
struct FaultLog {
  private let diagnostics: Diagnostics
  private var bad = 0
  /// Whether anything went wrong.
  private(set) var hasFault = false

  /// How many bad lines are named.
  static let limit = 10

  /// - Parameter diagnostics: where it is said.
  init(_ diagnostics: Diagnostics) { self.diagnostics = diagnostics }

  /// A bad line, which is skipped.
  mutating func line(_ file: String, _ number: Int, _ reason: String) {
    hasFault = true
    bad += 1
    if bad <= Self.limit { diagnostics.fault(file: Self.name(file), line: number, reason) }
  }

  /// A file that cannot be read.
  mutating func file(_ file: String, _ reason: String) {
    hasFault = true
    diagnostics.error(Self.name(file), reason)
  }

  /// Says how many bad lines were not named.
  func finish() {
    let more = bad - Self.limit
    if more > 0 { diagnostics.say("\(more) more bad \(more == 1 ? "line" : "lines")") }
  }

  private static func name(_ file: String) -> String { file == "-" ? "standard input" : file }
}
