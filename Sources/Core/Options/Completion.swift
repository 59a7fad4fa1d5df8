/// What a shell offers for an operand, or for the argument of an option.
public enum Completion: Sendable, Equatable {
  /// Nothing in particular.
  case none
  /// File names.
  case file
  /// These words.
  case words([String])
  /// Words that are looked up when they are asked for.
  case live(Live)

  /// Words that depend on the user's files: names of profiles, hosts, sessions. The
  /// command itself is asked for them, by `--completions NAME`.
  public struct Live: Sendable, Equatable {
    /// What they are: `profiles`.
    public let name: String
    private let look: @Sendable () -> [String]

    /// - Parameters:
    ///   - name: what they are, letters alone; one name, one list.
    ///   - look: finds them; nothing where nothing can be read.
    public init(_ name: String, _ look: @escaping @Sendable () -> [String]) {
      self.name = name
      self.look = look
    }

    /// A line for each that a shell takes for itself: the others it would expand.
    public var lines: String {
      look().filter(Self.isPlain).map { $0 + "\n" }.joined()
    }

    public static func == (one: Live, other: Live) -> Bool { one.name == other.name }

    private static func isPlain(_ word: String) -> Bool {
      !word.isEmpty && !word.hasPrefix("-")
        && word.utf8.allSatisfy {
          switch $0 {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "@"):
            true
          default: false
          }
        }
    }
  }
}
