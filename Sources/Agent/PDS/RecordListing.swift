struct RecordListing {
  /// The record of each path by the list before; nil before the first.
  private var known: [String: CID]?
  private var found: [String: CID] = [:]
  /// Those of the list that is being read of which the record is another than before.
  private var fresh: [String: [UInt8]] = [:]

  /// `tellsAll`: whether all that the first list has counts as new.
  init(tellsAll: Bool) { known = tellsAll ? [:] : nil }

  /// Whether the list did not have the record yet.
  mutating func receive(_ path: String, _ cid: CID, _ value: @autoclosure () -> [UInt8]?) -> Bool {
    guard found.updateValue(cid, forKey: path) == nil else { return false }
    if let known, known[path] != cid { fresh[path] = value() }
    return true
  }

  mutating func restart() { (found, fresh) = ([:], [:]) }

  /// What changed, sorted by path; nothing for the first list.
  mutating func finish() -> [FirehoseChange] {
    defer {
      known = found
      restart()
    }
    guard let known else { return [] }
    let paths =
      found.keys.filter { known[$0] != found[$0] } + known.keys.filter { found[$0] == nil }
    return paths.sorted().compactMap { path in
      let (cid, before) = (found[path], known[path])
      let action = before == nil ? "create" : cid == nil ? "delete" : "update"
      var members: [CBORValue.Member] = [
        .init(name: "action", value: .text(action)), .init(name: "path", value: .text(path)),
        .init(name: "cid", value: cid.map(CBORValue.link) ?? .null),
      ]
      if let before { members.append(.init(name: "prev", value: .link(before))) }
      var change = FirehoseChange(.map(members))
      change?.value = fresh[path]
      return change
    }
  }
}
