/// One option of a command, as it stands in the command's table.
public struct Option: Sendable {
  /// The letter, nil for an option with a long name alone.
  public let short: Character?
  /// The long name without dashes; parsing results carry it.
  public let long: String
  /// The argument's name in the help (`SECONDS`), nil for a flag. In brackets
  /// (`[FILE]`) it may be left out: the word behind the option is then its argument
  /// only when it can be nothing but a path, see `OptionTable.joined`.
  public let argument: String?
  /// Whether the argument may be left out.
  public var isArgumentOptional: Bool { argument?.utf8.first == UInt8(ascii: "[") }
  /// One line of help, lower case, no full stop.
  public let help: String
  /// What the shell completes the argument to.
  public var completion: Completion { makeCompletion() }
  /// Long lists of words are made for the one call in a thousand that asks.
  private let makeCompletion: @Sendable () -> Completion

  /// What a shell offers after an option.
  public enum Completion: Sendable, Equatable {
    /// Nothing in particular.
    case none
    /// File names.
    case file
    /// These words.
    case words([String])
    /// Words that are looked up when they are asked for.
    case live(Live)
  }

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

  /// - Parameters:
  ///   - short: the letter, nil if there is none.
  ///   - long: the long name without dashes.
  ///   - argument: the argument's name, in brackets when it may be left out; nil for a flag.
  ///   - help: one line.
  ///   - completion: what the shell offers for the argument.
  public init(
    _ short: Character?, _ long: String, _ argument: String? = nil, _ help: String,
    completion: @autoclosure @escaping @Sendable () -> Completion = .none
  ) {
    self.short = short
    self.long = long
    self.argument = argument
    self.help = help
    makeCompletion = completion
  }
}
