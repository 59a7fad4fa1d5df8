/// One option of a command: how it is called, what its argument is read as, and what it
/// does to the values that the command line sets. There is none without an effect.
///
///     Option("n", "count", "COUNT", "end after this many events", .wholeNumber(), \.count)
///     Option("q", "quiet", "no notes", \.isQuiet)
///     Option("l", "list", "print a list", \.job, .list)
///     Option("e", "event", "NAME", "only events of this type; repeatable", .text, \.events)
public struct Option<Values>: Sendable {
  /// How it is called.
  public let entry: OptionEntry
  let apply: @Sendable (inout Values, OptionArgument) throws(UsageError) -> Void

  /// An option with an argument.
  ///
  /// - Parameters:
  ///   - letter: nil for an option with a long name alone.
  ///   - argument: the argument's name, in brackets when it may be left out.
  ///   - help: one line, lower case, no full stop.
  ///   - effect: what it does, each time the option is given, in the order of the
  ///     command line.
  public init<Argument>(
    _ letter: Character?, _ name: String, _ argument: String, _ help: String,
    _ reading: Reading<Argument>,
    effect: @escaping @Sendable (_ values: inout Values, Argument) throws(UsageError) -> Void
  ) {
    entry = OptionEntry(letter, name, argument, help, completion: reading.completion)
    apply = { [read = reading.read] values, argument throws(UsageError) in
      try effect(&values, read(argument))
    }
  }

  /// A flag.
  public init(
    _ letter: Character?, _ name: String, _ help: String,
    effect: @escaping @Sendable (_ values: inout Values) throws(UsageError) -> Void
  ) {
    entry = OptionEntry(letter, name, nil, help)
    apply = { values, _ throws(UsageError) in try effect(&values) }
  }

  /// An option with an argument that is kept where the path says.
  public init<Argument>(
    _ letter: Character?, _ name: String, _ argument: String, _ help: String,
    _ reading: Reading<Argument>, _ path: any WritableKeyPath<Values, Argument> & Sendable
  ) {
    self.init(letter, name, argument, help, reading) { $0[keyPath: path] = $1 }
  }

  /// The same, where there is nothing without the option.
  public init<Argument>(
    _ letter: Character?, _ name: String, _ argument: String, _ help: String,
    _ reading: Reading<Argument>, _ path: any WritableKeyPath<Values, Argument?> & Sendable
  ) {
    self.init(letter, name, argument, help, reading) { $0[keyPath: path] = $1 }
  }

  /// A flag that is true where it is given.
  public init(
    _ letter: Character?, _ name: String, _ help: String,
    _ path: any WritableKeyPath<Values, Bool> & Sendable
  ) {
    self.init(letter, name, help) { $0[keyPath: path] = true }
  }

  /// The same, of a list that takes each argument.
  public init<Argument>(
    _ letter: Character?, _ name: String, _ argument: String, _ help: String,
    _ reading: Reading<Argument>, _ path: any WritableKeyPath<Values, [Argument]> & Sendable
  ) {
    self.init(letter, name, argument, help, reading) { $0[keyPath: path].append($1) }
  }

  /// A flag that sets what the path says to a value.
  public init<Value: Sendable>(
    _ letter: Character?, _ name: String, _ help: String,
    _ path: any WritableKeyPath<Values, Value> & Sendable, _ value: Value
  ) {
    self.init(letter, name, help) { $0[keyPath: path] = value }
  }

  /// The same, of a list that the value is added to.
  public init<Element: Sendable>(
    _ letter: Character?, _ name: String, _ help: String,
    _ path: any WritableKeyPath<Values, [Element]> & Sendable, _ element: Element
  ) {
    self.init(letter, name, help) { $0[keyPath: path].append(element) }
  }

  private init(
    _ entry: OptionEntry,
    _ apply: @escaping @Sendable (inout Values, OptionArgument) throws(UsageError) -> Void
  ) {
    (self.entry, self.apply) = (entry, apply)
  }

  /// The same option, which had this letter in earlier versions: it is still read, and
  /// told nowhere but in agentutils(7).
  public func formerly(_ letter: Character) -> Option {
    var entry = entry
    entry.formerLetter = letter
    return Option(entry, apply)
  }

  /// The same option, which the help shows only when it is asked for all, see
  /// `CommandUsage.help`.
  public var rare: Option {
    var entry = entry
    entry.isRare = true
    return Option(entry, apply)
  }

  /// The same option, of which a second argument is refused: the first would be forgotten
  /// in silence.
  ///
  /// - Parameter advice: what takes several: `agent-tail follows several`.
  public func once(_ advice: String) -> Option {
    var entry = entry
    entry.onceAdvice = advice
    return Option(entry, apply)
  }

  /// The same option of a command that keeps these values among its own.
  public func at<Whole>(_ path: any WritableKeyPath<Whole, Values> & Sendable) -> Option<Whole> {
    Option<Whole>(entry) { [apply] values, argument throws(UsageError) in
      try apply(&values[keyPath: path], argument)
    }
  }
}

extension Option where Values == Bool {
  /// `-q`.
  ///
  /// - Parameter help: what is not printed.
  public static func quiet(_ help: String) -> Option { Option("q", "quiet", help) { $0 = true } }

  /// `-v`.
  ///
  /// - Parameter help: what is told besides.
  public static func verbose(_ help: String) -> Option {
    Option("v", "verbose", help) { $0 = true }
  }
}

extension Array {
  /// Options that several commands share, for one that keeps their values among its own.
  public func at<Whole, Values>(
    _ path: any WritableKeyPath<Whole, Values> & Sendable
  ) -> [Option<Whole>] where Element == Option<Values> {
    map { $0.at(path) }
  }
}

/// How an option is called: what help, completions and getopt_long(3) need to know.
public struct OptionEntry: Sendable {
  /// The letter, nil for an option with a long name alone.
  public let letter: Character?
  /// A letter of earlier versions, see `Option.formerly`.
  var formerLetter: Character?
  /// Whether the help shows it only when it is asked for all, see `Option.rare`.
  fileprivate(set) var isRare: Bool
  /// Not nil where it can have one argument only, see `Option.once`.
  fileprivate(set) var onceAdvice: String?
  /// The long name without dashes.
  public let name: String
  /// The argument's name in the help (`SECONDS`), nil for a flag. In brackets
  /// (`[FILE]`) it may be left out: the word behind the option is then its argument
  /// only when it can be nothing but a path, see `CommandUsage.joined`.
  public let argument: String?
  /// One line of help, lower case, no full stop.
  public let help: String
  /// Long lists of words are made for the one call in a thousand that asks.
  private let makeCompletion: @Sendable () -> Completion

  init(
    _ letter: Character?, _ name: String, _ argument: String?, _ help: String,
    completion: @escaping @Sendable () -> Completion = { .none }, isRare: Bool = false
  ) {
    (self.letter, self.name, self.argument, self.help) = (letter, name, argument, help)
    makeCompletion = completion
    self.isRare = isRare
  }

  /// What the shell completes the argument to.
  public var completion: Completion { makeCompletion() }

  func goes(by letter: Character) -> Bool { self.letter == letter || formerLetter == letter }

  /// Whether the argument may be left out.
  public var isArgumentOptional: Bool { argument?.utf8.first == UInt8(ascii: "[") }

  /// Whether the argument is a list: `KIND,...`.
  public var isList: Bool { argument?.hasSuffix(",...") == true }

  /// Where it stands in help and manual: by its letter, lower case before upper, and
  /// without one behind all that have one, by its name.
  var place: String {
    guard let letter else { return "2\(name)" }
    return "1\(letter.lowercased())\(letter.isUppercase ? 1 : 0)"
  }
}
