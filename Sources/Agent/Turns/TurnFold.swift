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
