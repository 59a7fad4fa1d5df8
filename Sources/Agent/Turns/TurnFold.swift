public import Records

/// Folds events to what is so now: conversations, turns, calls of tools, messages and
/// approvals. Pure: no clock, no network.
///
/// Events may come twice, late, or not at all; an end never turns back. What is over is
/// forgotten after a while, so that memory is bounded by what is open, unless all is to be
/// kept.
///
/// This folder has no CONTRACT.md: no wire is read here. What a backend says, and in which
/// words, stands in its own; its decoder makes a `TurnEvent` of it.
public final class TurnFold {
  private let book: FoldBook
  private let thread: String
  private(set) var threads: [FoldBook.Key: ThreadFold] = [:]
  /// The threads in the order in which they came. Where all is kept.
  private(set) var order: [ThreadFold] = []
  private(set) var current: ThreadFold?

  /// - Parameters:
  ///   - keepsAll: whether everything is kept, for the state at the end.
  ///   - thread: the thread of events that name none.
  public init(keepsAll: Bool = false, thread: String = "") {
    book = FoldBook(keepsAll: keepsAll)
    self.thread = thread
  }

  /// Takes an event.
  ///
  /// - Returns: what it changed, each whole, in the order in which it is to be told.
  public func receive(_ event: TurnEvent) -> [ConversationRecord] {
    var changed: [any FoldedEntity] = []
    fold(event, into: &changed)
    return changed.map { entity in
      entity.marks.tell(size: entity.textSize)
      return entity.entity
    }
  }

  /// Takes an event, for those who write records.
  ///
  /// - Parameter changed: what it changed is added. Each is as it is now, and not a copy.
  public func fold(_ event: TurnEvent, into changed: inout [any FoldedEntity]) {
    let isNamed = !event.thread.isEmpty || !thread.isEmpty
    state(of: event).receive(event, isNamed: isNamed)
    book.takeChanged(into: &changed)
    if book.hasForgotten {
      book.hasForgotten = false
      threads = threads.filter { !$0.value.isIdle || $0.value === current }
    }
  }

  deinit { book.dissolve() }

  /// How many actions of a turn whose end came too early are open: none when it may go on any
  /// time, or never does. Nil for any other turn.
  public func openActions(of turn: String) -> Int? {
    guard let turn = current?.turn(turn), turn.isHeld else { return nil }
    return turn.openActions.count
  }

  /// Begins a thread where a snapshot left off, before its first event.
  ///
  /// - Parameters:
  ///   - messages: what was said in it, oldest first.
  ///   - lastSequence: the number of the last event that the snapshot has in it.
  public func begin(
    _ origin: RecordOrigin, thread: String, messages: [MessageRecord], lastSequence: Int64
  ) {
    let event = TurnEvent(origin, thread: thread, time: nil, .nothing)
    state(of: event).begin(messages, lastSequence: lastSequence)
  }

  private func state(of event: TurnEvent) -> ThreadFold {
    var id = event.thread.isEmpty ? thread : event.thread
    if let current, current.origin == event.origin {
      if current.id == id { return current }
      // Of what a stream tells without saying of whom, the one before is the likeliest.
      if id.isEmpty, event.change.isStep { id = current.id }
      if current.id.isEmpty, event.change.isStep {
        threads[FoldBook.Key(origin: current.origin, id: "")] = nil
        current.id = id
        threads[FoldBook.Key(origin: current.origin, id: id)] = current
        return current
      }
    }
    let key = FoldBook.Key(origin: event.origin, id: id)
    if let current, current.isIdle, !book.keepsAll {
      threads[FoldBook.Key(origin: current.origin, id: current.id)] = nil
    }
    let known = threads[key]
    let state = known ?? ThreadFold(book, event.origin, id)
    if known == nil {
      threads[key] = state
      if book.keepsAll { order.append(state) }
    }
    current = state
    return state
  }
}

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
