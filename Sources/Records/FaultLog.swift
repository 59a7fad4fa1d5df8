public import Core

/// Says which lines of the input are bad, or which events of a stream: the first
/// ten, then how many more. One rule for every command that reads records.
public struct FaultLog {
  private let say: (String) -> Void
  private var bad = 0
  private var noun = "line"
  /// Whether anything went wrong.
  public private(set) var hasFault = false

  /// How many bad lines are named.
  public static let limit = 10

  public init(_ diagnostics: Diagnostics) { self.init { diagnostics.say($0) } }

  /// - Parameter say: takes each message, without the command's name.
  public init(say: @escaping (String) -> Void) { self.say = say }

  /// A bad line, which is skipped.
  ///
  /// - Parameters:
  ///   - file: as the user called it; `-` is standard input.
  ///   - number: the line, from 1.
  ///   - reason: lower case, no full stop.
  public mutating func line(_ file: String, _ number: Int, _ reason: String) {
    add("\(Self.name(file)):\(number): \(reason)")
  }

  /// Bad lines that need not be named, since ten before them were.
  public mutating func lines(unnamed count: Int) {
    if count > 0 { hasFault = true }
    bad += count
  }

  /// A bad line of a file that is not read from its first line, which is skipped.
  ///
  /// - Parameters:
  ///   - file: as the user called it, or as it was found.
  ///   - offset: of its first byte, from 0.
  ///   - reason: lower case, no full stop.
  public mutating func place(_ file: String, byte offset: Int64, _ reason: String) {
    add("\(file): byte \(offset): \(reason)")
  }

  /// A bad event of a stream, which is dropped.
  ///
  /// - Parameter reason: lower case, no full stop.
  public mutating func event(_ stream: String, _ reason: String) {
    noun = "event"
    add("\(stream): \(reason)")
  }

  private mutating func add(_ message: String) {
    hasFault = true
    bad += 1
    if bad <= Self.limit { say(message) }
  }

  /// A file that cannot be read; every one is named.
  public mutating func file(_ file: String, _ reason: String) {
    hasFault = true
    say("\(Self.name(file)): \(reason)")
  }

  /// Says, at the end of the input, how many were not named.
  public mutating func finish() {
    let more = bad - Self.limit
    bad = 0
    if more > 0 { say("\(more) more bad \(noun)\(more == 1 ? "" : "s")") }
  }

  private static func name(_ file: String) -> String { file == "-" ? "standard input" : file }
}
