/// What the argument of an option is read as, and what a shell offers for it.
///
/// Those below are what the options of several commands take. A command makes one of
/// its own of a function: `Reading(Header.method)`.
public struct Reading<Value>: Sendable {
  /// Reads an argument. Throws `UsageError`, best made by `OptionArgument.fault`.
  public typealias Read = @Sendable (_ argument: OptionArgument) throws(UsageError) -> Value

  let read: Read
  /// Long lists of words are made for the one call in a thousand that asks.
  let completion: @Sendable () -> Completion

  public init(
    _ read: @escaping Read,
    completion: @autoclosure @escaping @Sendable () -> Completion = .none
  ) {
    (self.read, self.completion) = (read, completion)
  }

  /// What a function makes of the text; where that is nil, the argument is at fault.
  ///
  /// - Parameter fault: what it is not: `not a URL`.
  public init(_ fault: String, _ make: @escaping @Sendable (String) -> Value?) {
    self.init { argument throws(UsageError) in
      guard let value = make(argument.value) else { throw argument.fault(fault) }
      return value
    }
  }

  /// The same, with something else for the shell to offer.
  public func offering(
    _ completion: @autoclosure @escaping @Sendable () -> Completion
  ) -> Reading {
    Reading(read, completion: completion())
  }
}

extension Reading<String> {
  /// As it is. What is not UTF-8 in it becomes U+FFFD.
  public static var text: Reading { Reading { $0.value } }

  /// The name of a file, byte for byte, see `FileName`.
  public static var path: Reading { Reading({ $0.path }, completion: .file) }

  /// As it is, but not empty, as a variable of a script that was never set is.
  public static var word: Reading {
    Reading { argument throws(UsageError) in
      if argument.path.isEmpty { throw argument.fault("nothing is named") }
      return argument.value
    }
  }
}

extension OptionArgument {
  /// The words of a list, `a,b, c`, without the blanks around them; empty ones, too.
  public var words: [String] {
    value.split(separator: ",", omittingEmptySubsequences: false).map { word in
      String(word.trimming { $0 == " " || $0 == "\t" })
    }
  }
}

extension Reading<[String]> {
  /// A list, `a,b,c`, of one word at least; empty words in it do not count.
  public static var list: Reading {
    Reading { argument throws(UsageError) in
      let words = argument.words.filter { !$0.isEmpty }
      if words.isEmpty { throw argument.fault("nothing is named") }
      return words
    }
  }
}

extension Reading<[String]> {
  /// Names, `a,b,c`, none of which is empty.
  public static var names: Reading {
    Reading { argument throws(UsageError) in
      if argument.words.contains("") { throw argument.fault("an empty name") }
      return argument.words
    }
  }
}

extension Reading<Int> {
  /// A whole number, in digits alone.
  public static func wholeNumber(in range: ClosedRange<Int> = 0...Int.max) -> Reading {
    Reading { argument throws(UsageError) in
      let value = argument.value
      if !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }),
        let number = Int(value), range.contains(number)
      {
        return number
      }
      let bounds =
        range.upperBound < Int.max
        ? " from \(range.lowerBound) to \(range.upperBound)"
        : range.lowerBound == 0 ? "" : " above \(range.lowerBound - 1)"
      throw argument.fault("not a whole number\(bounds)")
    }
  }
}

extension Reading<Double> {
  /// A finite number.
  ///
  /// - Parameters:
  ///   - expected: what is asked for: `a number above 0`.
  ///   - isMeant: whether a number is that.
  public static func number(
    _ expected: String = "a number",
    where isMeant: @escaping @Sendable (Double) -> Bool = { _ in true }
  ) -> Reading {
    Reading("not \(expected)") { text in
      Double(text).flatMap { $0.isFinite && isMeant($0) ? $0 : nil }
    }
  }

  /// A length of time, see `DurationText`, in seconds, not below 0.
  public static var seconds: Reading {
    Reading("not a time: seconds, or 90s 15m 2h 3d") { text in
      DurationText.parse(text).flatMap { $0 >= .zero ? $0 / .seconds(1) : nil }
    }
  }
}

extension Reading<Moment> {
  /// A point in time, see `Moment`.
  public static var moment: Reading {
    Reading("not a time: 15m, 2h, 3d, today, yesterday, tue, 14:30, 2026-11-22 14:30, RFC 3339") {
      Moment($0)
    }.offering(.words(Moment.words))
  }

  /// The same, or seconds since 1970 in digits, which are not so many seconds ago.
  public static var momentOrEpoch: Reading {
    Reading(
      { argument throws(UsageError) in
        if let time = Timestamp(epoch: argument.value) { return .time(time) }
        return try moment.read(argument)
      }, completion: .words(Moment.words))
  }
}

extension Reading where Value: CaseIterable & RawRepresentable<String> & Sendable {
  /// One word of an enumeration.
  public static func choice(of choice: Value.Type) -> Reading {
    let words = Value.allCases.map(\.rawValue)
    return Reading(
      { argument throws(UsageError) in
        guard let chosen = Value(rawValue: argument.value) else {
          throw argument.fault(noneOf: words)
        }
        return chosen
      }, completion: .words(words))
  }
}

/// The argument of an option as it was given; empty for a flag.
public struct OptionArgument: Sendable {
  /// The option's long name without dashes.
  public let name: String
  /// As the name of a file, byte for byte, see `FileName`.
  public let path: String
  /// As text: what is not UTF-8 in it is U+FFFD.
  public var value: String { FileName.repaired(path) }

  /// - Parameters:
  ///   - name: the option's long name without dashes.
  ///   - path: as it was given.
  public init(name: String, path: String) {
    (self.name, self.path) = (name, path)
  }

  /// What to say of an argument that makes no sense.
  ///
  /// - Parameter reason: what it is not: `not a whole number`.
  /// - Returns: `--count x: not a whole number`.
  public func fault(_ reason: String) -> UsageError {
    UsageError(path.isEmpty ? "--\(name): \(reason)" : "--\(name) \(value): \(reason)")
  }

  /// - Parameter words: all that it could be, two at least.
  /// - Returns: `--output x: not json, table or tsv`.
  public func fault(noneOf words: [String]) -> UsageError {
    fault(
      "not \(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")"
        + NearestWord.hint(for: value, among: words))
  }
}

/// Why a command line cannot be understood: one line for the user.
public struct UsageError: Error, Equatable, Sendable {
  /// What is wrong, lower case: `unknown option --colour`.
  public let problem: String

  /// What could be meant, said behind the usage: one line, or nil.
  public let advice: String?

  /// - Parameter problem: one line, lower case, no full stop.
  public init(_ problem: String, advice: String? = nil) {
    (self.problem, self.advice) = (problem, advice)
  }
}
