public import Core
import Records
import Web

/// An operation as it is asked for: the arguments, who is asked, and where the answer
/// goes.
public struct OperationCall {
  /// The operation's word.
  public let name: String
  /// What the command line says.
  public let arguments: OperationArguments
  /// Who is asked.
  public let caller: Caller
  /// Where the answer goes.
  public let output: any OperationOutput
  /// For words.
  public let diagnostics: Diagnostics

  public init(
    _ name: String, _ arguments: OperationArguments, caller: Caller,
    output: any OperationOutput, diagnostics: Diagnostics
  ) {
    (self.name, self.arguments, self.caller) = (name, arguments, caller)
    (self.output, self.diagnostics) = (output, diagnostics)
  }

  func record(
    _ path: String, facts: (JSONValue) -> [OperationOutput.Detail]?, isWell: (JSONValue) -> Bool
  ) throws -> ExitStatus {
    let place = caller.place(path)
    let answer = try Answer(try caller.call(path), place: place)
    switch answer {
    case .record(let record):
      let value = JSONValue(record)
      try output.record(record, facts: value.flatMap(facts))
      if arguments.isQuiet, value.map(isWell) == false { return .negative }
      return answer.refusal == nil ? .success : .negative
    case .null:
      tellPerson("no \(name)")
      return .negative
    case .rows, .nothing: throw Failure(place, "the answer is not an object", .failure)
    }
  }

  func rows(_ listing: Listing, _ path: String) throws(Failure) -> [[UInt8]] {
    let place = caller.place(path)
    let rows = try Answer.list(try caller.call(path), listing.member, place: place)
    if let most = listing.most, rows.count == most, arguments.count ?? .max > most {
      diagnostics.error(place, "there may be more than these \(most): the backend gives no more")
    }
    return rows
  }

  func finish(_ rows: [[UInt8]], _ listing: Listing) throws(WriteFailure) -> ExitStatus {
    if rows.isEmpty {
      tellNone(of: listing)
      try output.list([], listing)
      return .negative
    }
    try output.list(Array(rows.prefix(arguments.count ?? .max)), listing)
    return .success
  }

  /// The most that an answer may hold, so that the backend's default cuts nothing.
  func limit(_ listing: Listing) -> Int? {
    listing.most.map { min($0, arguments.count ?? $0) }
  }

  func tellNone(of listing: Listing) {
    tellPerson("no \(name)" + (listing.origin.map { ": \($0)" } ?? ""))
  }

  /// Tells what a person at a terminal wants to know and a script sees by the status.
  func tellPerson(_ words: String) {
    if !arguments.isQuiet { diagnostics.tellPerson(words) }
  }
}
