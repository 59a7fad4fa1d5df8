/// What a shell offers for an operand, or for the argument of an option. An argument that
/// is called `NAME,...` is a list: each word of it is completed.
public enum Completion: Sendable {
  /// Nothing in particular.
  case none
  /// File names.
  case file
  /// These words.
  case words([String])
  /// Words of the user's own files, looked up when they are asked for: names of profiles,
  /// hosts, sessions; nothing where nothing can be read.
  case live(@Sendable () -> [String])
  /// File names, and hosts of the user's own files, each with a colon behind it.
  case fileOr(@Sendable () -> [String])
  /// One of these words, and behind it what goes with that.
  case verbs([Verb])

  /// A word that says what is to be done.
  public struct Verb: Sendable {
    let word: String
    let next: Completion

    /// The name of a file, beside words.
    public static let file = Verb(Completion.files)

    /// - Parameter next: what the words behind it are.
    public init(_ word: String, _ next: Completion = .none) {
      (self.word, self.next) = (word, next)
    }
  }

  /// What stands for file names among words, which shells know best.
  static let files = ":file"

  func words(behind operands: [String]) -> [String] {
    switch self {
    case .none: return []
    case .file: return [Self.files]
    case .words(let words): return words
    case .live(let look): return look().filter(Self.isPlain)
    case .fileOr(let look): return look().filter(Self.isPlain).map { $0 + ":" } + [Self.files]
    case .verbs(let verbs):
      guard let first = operands.first else { return verbs.map(\.word) }
      let verb = verbs.first { $0.word == first }
      return (verb?.next ?? .none).words(behind: Array(operands.dropFirst()))
    }
  }

  /// Whether a word can be given to a shell as it is: letters of any script with their
  /// marks, digits, and a few signs that no shell expands.
  public static func isPlain(_ word: String) -> Bool {
    !word.isEmpty && !word.hasPrefix("-")
      && word.unicodeScalars.allSatisfy {
        switch $0 {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "-", "_", "@": return true
        case _ where $0.isASCII: return false
        default: break
        }
        switch $0.properties.generalCategory {
        case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .otherLetter,
          .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber:
          return !$0.properties.isDefaultIgnorableCodePoint
        default: return false
        }
      }
  }
}
