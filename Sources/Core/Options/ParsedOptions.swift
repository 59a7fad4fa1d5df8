/// What the commands read that do not bind their options yet.
public struct ParsedOptions: Sendable, Equatable {
  /// One option as given.
  public struct Item: Sendable, Equatable {
    public let name: String
    public let path: String
    public var value: String { FileName.repaired(path) }

    public func wholeNumber(in range: ClosedRange<Int> = 0...Int.max) throws(UsageError) -> Int {
      try Reading.wholeNumber(in: range).read(OptionArgument(name: name, path: path))
    }

    public func seconds() throws(UsageError) -> Double {
      try Reading.seconds.read(OptionArgument(name: name, path: path))
    }
  }

  public var items: [Item] = []
  public var paths: [String] = []
  public var operands: [String] { paths.map(FileName.repaired) }
}

extension Option where Values == ParsedOptions {
  public init(
    _ short: Character?, _ long: String, _ argument: String?, _ help: String,
    completion: @autoclosure @escaping @Sendable () -> Completion = .none
  ) {
    if let argument {
      self.init(short, long, argument, help, Reading({ $0 }, completion: completion())) {
        $0.items.append(ParsedOptions.Item(name: $1.name, path: $1.path))
      }
    } else {
      self.init(short, long, help) { $0.items.append(ParsedOptions.Item(name: long, path: "")) }
    }
  }
}

extension OptionTable where Values == ParsedOptions {
  public init(
    program: String, summary: String, synopsis: String, operands: Completion = .file,
    options: [Option<ParsedOptions>]
  ) {
    self.init(
      program: program, summary: summary, synopsis: synopsis, operands: operands, options: options
    ) { $0.paths = $1.paths }
  }

  public var program: String { usage.program }

  public func parse(_ arguments: [String]) throws(UsageError) -> ParsedOptions {
    try parse(arguments, ParsedOptions())
  }

  public func parseOrExit() -> ParsedOptions { parseOrExit(ParsedOptions()) }
}

extension Diagnostics {
  public func usage(_ problem: String, _ table: OptionTable<ParsedOptions>) -> Never {
    usage(UsageError(problem), table.usage)
  }
}
