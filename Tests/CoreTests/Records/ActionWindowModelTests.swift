import TestSupport
import Testing

@testable import Core
@testable import Records

/// The window against a model of its description: counters in a dictionary and
/// lists of what came.
private struct Model {
  let capacity: Int
  /// Each with the action that had it last.
  var ids: [(id: ActionKey, owner: ActionKey)] = []
  /// The ids of several actions, each with one of these.
  var pairs: [(id: ActionKey, owner: ActionKey)] = []
  var keys: [ActionKey] = []
  var counts: [ActionKey: (passed: Int, seen: [Int])] = [:]

  mutating func isNewPair(_ id: ActionKey, _ owner: ActionKey) -> Bool {
    if pairs.contains(where: { $0.id == id && $0.owner == owner }) { return false }
    pairs.append((id, owner))
    if pairs.count > capacity { pairs.removeFirst() }
    return true
  }

  mutating func isNew(id: ActionKey?, key: ActionKey, source: Int) -> Bool {
    if let id {
      if let place = ids.firstIndex(where: { $0.id == id }) {
        if ids[place].owner == key { return false }
        _ = isNewPair(id, ids[place].owner)
        ids[place].owner = key
        if !isNewPair(id, key) { return false }
      } else {
        ids.append((id, key))
        if ids.count > capacity { ids.removeFirst() }
      }
    }
    if counts[key] == nil {
      keys.append(key)
      counts[key] = (0, [0, 0, 0, 0])
      if keys.count > capacity { counts[keys.removeFirst()] = nil }
    }
    counts[key]?.seen[source] += 1
    guard let now = counts[key], now.seen[source] > now.passed else { return false }
    counts[key]?.passed += 1
    return true
  }
}

@Suite struct ActionWindowModelTests {
  @Test(arguments: [1, 2, 7, 64, 500])
  func agreesWithItsModel(capacity: Int) {
    var random = SeededGenerator(seed: UInt64(capacity))
    var window = ActionWindow(capacity: capacity)
    var model = Model(capacity: capacity)
    func key(_ number: Int) -> ActionKey { withBytes("\(number)") { ActionKey(text: $0) } }
    var passed = 0
    for step in 0..<20_000 {
      let id = Bool.random(using: &random) ? Int.random(in: 0...capacity * 2, using: &random) : nil
      let what = key(Int.random(in: 0...capacity * 3 / 2, using: &random))
      let place = Int.random(in: 0..<4, using: &random)
      guard let source = ActionWindow.Source(rawValue: place) else { continue }
      let isNew = window.isNew(id: id.map(key), key: what, source: source)
      let wanted = model.isNew(id: id.map(key), key: what, source: place)
      if isNew { passed += 1 }
      guard isNew == wanted else {
        Issue.record("step \(step): \(isNew), not \(wanted)")
        return
      }
    }
    #expect(passed > 1000 && passed < 19_000)
  }
}
