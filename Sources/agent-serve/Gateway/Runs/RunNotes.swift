import Records

struct RunNotes {
  static let mostCalls = 1000

  var lines = 0
  var faults: FaultLog?
  var calls: [String: Bool] = [:]
  var names: [String: String] = [:]
  var thought = ""
  var usage = JSONNode.absent
}
