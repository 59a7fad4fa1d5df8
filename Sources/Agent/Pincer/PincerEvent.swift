import Core

/// The envelope of an event of a thread (Agent/Pincer/CONTRACT.md 5.1): as much of it as one
/// needs who hands it on.
struct PincerEvent: Equatable {
  /// The name of what happened, in lower camel case: `turnCompleted`.
  let name: String
  /// Its number in the thread, from 1; 0 where it has none.
  let sequence: Int64

  /// The members that say whose event it is, and not what happened.
  private static let envelope: Set = [
    "eventId", "threadId", "jobId", "turnId", "sequence", "occurredAt", "source", "contentTrust",
  ]

  init(_ message: [UInt8]) throws(Failure) {
    guard let value = try? JSONValue.parse(message), value.isObject else {
      throw Failure("not a JSON object")
    }
    guard let sequence = value.pincerNumber("sequence"),
      (0...WatchLedger.largest).contains(sequence)
    else {
      throw Failure("its sequence is no number of an event")
    }
    self.sequence = sequence
    let names = value.members.lazy.filter { $0.value.isObject }.map { PincerName.camel($0.name) }
    name = names.first { !Self.envelope.contains($0) } ?? "unknown"
  }

}
