import Records

/// What came of a run's notes so far.
struct RunNotes {
  /// The most calls of a run.
  static let mostCalls = 1000

  /// How many lines were read.
  var lines = 0
  /// Those that were bad.
  var faults: FaultLog?
  /// The calls, by the ids of the reply command, and whether they are over.
  var calls: [String: Bool] = [:]
  /// The names of those that are not.
  var names: [String: String] = [:]
  var thought = ""
  /// What the reply took.
  var usage = JSONNode.absent
}
