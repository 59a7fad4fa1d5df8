public import Core
public import Records

extension [ToldName] {
  /// The one of that id, else the one of that name: the very name, or one that is the same
  /// but for case and what is neither letter nor digit.
  func one(_ text: String, _ kind: NamedKind) throws(Failure) -> ToldName? {
    if let found = first(where: { $0.id == text }) { return found }
    let key = NameKey(text)
    for isMeant in [{ $0.name == text }, { NameKey($0.name) == key }] as [(ToldName) -> Bool] {
      var ids: Set<String> = []
      let found = filter { isMeant($0) && ids.insert($0.id).inserted }
      if found.count > 1 {
        throw Failure(
          "\(kind.rawValue) \(text)", "several have this name, give an id: \(found.list)",
          .failure)
      }
      if let found = found.first { return found }
    }
    return nil
  }

  /// For messages: `4 (Den), 5 (Cave)`.
  var list: String {
    var words = prefix(8).map { one in
      let name = one.name.unicodeScalars.prefix(40).map { String($0) }.joined()
      return name.isEmpty ? one.id : "\(one.id) (\(name))"
    }
    if count > words.count { words.append("and \(count - words.count) more") }
    return words.joined(separator: ", ")
  }
}

/// The people whom the agent met in voice, the only ones whose names a dashboard tells.
public enum UserChoice {
  /// All of them, those last met first; one who was renamed has all names.
  public static func users(_ caller: Caller, limit: Int? = nil) throws(Failure) -> [ToldName] {
    var scan = NameScan()
    var told = try caller.call(ClankyPath.voiceState).body.withUnsafeBytes { scan.names(in: $0) }
    let path = ClankyPath.actions(
      guild: nil, kinds: ["voice_runtime"], sinceHours: nil, limit: limit ?? ActionPages.mostRows)
    for row in try Answer.list(try caller.call(path), nil, place: "actions") {
      told += row.withUnsafeBytes { scan.names(in: $0) }
    }
    var known: Set<ToldName> = []
    return told.filter { $0.kind == .user && known.insert($0).inserted }
  }

  /// The id of a user.
  ///
  /// - Parameter text: an id, which is not looked up, or a name.
  /// - Throws: `Failure`, also for a name that nobody has.
  public static func named(_ text: String, _ caller: Caller) throws(Failure) -> String {
    if NameKey.isID(text) { return text }
    let all = try users(caller)
    if let found = try all.one(text, .user) { return found.id }
    let known = all.isEmpty ? "the backend tells no names" : "there are \(all.list)"
    throw Failure(
      "user \(text)", "nobody of this name is known, an id will do; \(known)", .failure)
  }
}
