import Records

/// What the threads of a fold share: what changed, the approvals, and what may be forgotten.
final class FoldBook {
  /// Whether everything is kept, for the state at the end. Else what is over is forgotten,
  /// so that memory is bounded by what is open.
  let keepsAll: Bool
  private(set) var changed: [any FoldedEntity] = []
  private var approvals: [Key: FoldedApproval] = [:]
  private var conversations: [Key: FoldedThread] = [:]
  /// What is over and still known: late events may tell more of it.
  private var leaving: [(type: RecordType, key: Key, forget: () -> Void)] = []
  private var ended = EndedIDs()
  /// Whether something was forgotten, so that threads may be idle now.
  var hasForgotten = false

  /// In units: a turn with all that belongs to it, or anything that belongs to no turn.
  static let mostLeaving = 256

  struct Key: Hashable {
    var origin: RecordOrigin
    var id: String
  }

  init(keepsAll: Bool) { self.keepsAll = keepsAll }

  /// `isGrowth`: whether only a text grew.
  func mark(_ entity: some FoldedEntity, isGrowth: Bool = false) {
    if entity.marks.note(isGrowth: isGrowth) { changed.append(entity) }
  }

  func takeChanged(into taken: inout [any FoldedEntity]) {
    for entity in changed {
      entity.marks.isChanged = false
      taken.append(entity)
    }
    changed.removeAll(keepingCapacity: true)
  }

  // MARK: - What is over

  func leave(
    _ entity: any FoldedEntity, _ type: RecordType, _ origin: RecordOrigin, _ id: String,
    forget: @escaping () -> Void
  ) {
    if keepsAll || entity.marks.isLeaving { return }
    entity.marks.isLeaving = true
    leaving.append((type, Key(origin: origin, id: id), forget))
    // In steps, so that taking from the front costs little.
    guard leaving.count >= Self.mostLeaving * 2 else { return }
    for departure in leaving.prefix(Self.mostLeaving) {
      ended.insert(departure.type, departure.key)
      departure.forget()
    }
    leaving.removeFirst(Self.mostLeaving)
    hasForgotten = true
  }

  func dissolve() { leaving = [] }

  /// Whether something was over and is forgotten: it does not begin anew.
  func isGone(_ type: RecordType, _ origin: RecordOrigin, _ id: String) -> Bool {
    !keepsAll && ended.contains(type, Key(origin: origin, id: id))
  }

  /// Notes that something is over and forgotten.
  func noteGone(_ type: RecordType, _ origin: RecordOrigin, _ id: String) {
    ended.insert(type, Key(origin: origin, id: id))
  }

  // MARK: - What belongs to no thread

  func approval(_ origin: RecordOrigin, _ id: String) -> FoldedApproval? {
    approvals.isEmpty ? nil : approvals[Key(origin: origin, id: id)]
  }

  /// Takes an approval, or what is new of one. An end never turns back.
  func receive(_ record: ApprovalRecord, original: [UInt8]? = nil) {
    let key = Key(origin: record.origin, id: record.id)
    let entity: FoldedApproval
    if let known = approvals[key] {
      guard known.record.merge(record) else { return }
      entity = known
    } else {
      // Of what nobody has heard of, it must say what was asked.
      if record.request.isEmpty || isGone(.approval, record.origin, record.id) { return }
      entity = FoldedApproval(record)
      approvals[key] = entity
    }
    mark(entity)
    entity.marks.original = original
    if entity.isEnded {
      leave(entity, .approval, key.origin, key.id) { [unowned self] in approvals[key] = nil }
    }
  }

  func forgetApproval(_ origin: RecordOrigin, _ id: String) {
    approvals[Key(origin: origin, id: id)] = nil
  }

  func receive(_ record: ThreadRecord, original: [UInt8]? = nil) {
    let key = Key(origin: record.origin, id: record.id)
    let entity: FoldedThread
    if let known = conversations[key] {
      guard known.record.merge(record) else { return }
      entity = known
    } else {
      entity = FoldedThread(record)
      conversations[key] = entity
    }
    mark(entity)
    entity.marks.original = original
  }
}

/// The ids of what is over and forgotten: those of the last 32768 and more, by their hashes.
private struct EndedIDs {
  private var (recent, older) = (Set<Int>(), Set<Int>())

  private static let most = 32768

  private static func hash(_ type: RecordType, _ key: FoldBook.Key) -> Int {
    var hasher = Hasher()
    hasher.combine(type)
    hasher.combine(key)
    return hasher.finalize()
  }

  mutating func insert(_ type: RecordType, _ key: FoldBook.Key) {
    if recent.count >= Self.most {
      older = recent
      recent = []
    }
    recent.insert(Self.hash(type, key))
  }

  func contains(_ type: RecordType, _ key: FoldBook.Key) -> Bool {
    if recent.isEmpty { return false }
    let hash = Self.hash(type, key)
    return recent.contains(hash) || older.contains(hash)
  }
}
