import Core
import Testing

@testable import Agent

/// A history of an outbox, line by line.
struct History {
  private(set) var fold = OutboxFold()
  private(set) var lines: [(bytes: [UInt8], ids: [TID])] = []
  private var clock = TIDClock(clock: 0)
  private let now = Timestamp(seconds: 1)

  static func place(_ key: String = "k") -> RecordPlace {
    RecordPlace(NSID("com.example.a")!, RecordKey(key)!)
  }

  static func draft(_ number: Int) -> RecordDraft {
    let text = Array(#"{"n":\#(number)}"#.utf8)
    return text.withUnsafeBytes { bytes in
      // swift-format-ignore: NeverUseForceTry
      try! RecordDraft(bytes, for: NSID("com.example.a")!, created: nil)
    }
  }

  /// Takes a line as it is written, read back.
  private mutating func receive(_ bytes: [UInt8], _ ids: [TID]) {
    let line = bytes.withUnsafeBytes { try? OutboxLine($0) }
    guard let line else {
      Issue.record("not a line: \(String(decoding: bytes, as: UTF8.self))")
      return
    }
    let isTaken = fold.receive(line)
    #expect(isTaken)
    lines.append((bytes, ids))
  }

  @discardableResult
  mutating func add(_ change: OutboxChange) -> TID {
    let entry = OutboxEntry(id: clock.next(now: 1), time: now, change: change)
    receive(entry.bytes, [entry.id])
    return entry.id
  }

  @discardableResult
  mutating func put(_ number: Int, _ base: RecordSwap = .absent, _ key: String = "k") -> TID {
    add(.put(Self.place(key), Self.draft(number), base: base))
  }

  @discardableResult
  mutating func delete(_ base: RecordSwap = .any, _ key: String = "k") -> TID {
    add(.delete(Self.place(key), base: base))
  }

  mutating func sending(_ ids: [TID], _ cid: CID?) {
    receive(OutboxLine.sending(cid, ids, now), ids)
  }

  mutating func ack(_ ids: [TID], _ ack: OutboxAck) { receive(ack.bytes(ids, now), ids) }

  /// What is left out is not missed.
  var compacted: OutboxFold {
    var fold = OutboxFold()
    let needs = self.fold.needs
    for line in lines where needs(line.ids) {
      _ = line.bytes.withUnsafeBytes { bytes in (try? OutboxLine(bytes)).map { fold.receive($0) } }
    }
    return fold
  }
}

extension OutboxItem {
  /// `put 3 from null`: what is done, and from what.
  fileprivate var words: String {
    let what =
      switch action {
      case .put(let draft): "put " + String(decoding: draft.bytes, as: UTF8.self).filter(\.isNumber)
      case .delete: "delete"
      case .nothing: "nothing"
      case .prompt(let text, _): "prompt \(text)"
      }
    let from =
      switch change.base {
      case .any: "unknown"
      case .absent: "null"
      case .cid(let cid): cid.description
      }
    return place == nil ? what : "\(what) from \(from)"
  }
}

struct OutboxFoldTests {
  private static let base = RecordSwap.cid(CID("bafyreibase")!)

  private func folded(_ body: (inout History) -> Void) -> [String] {
    var history = History()
    body(&history)
    #expect(history.compacted.open.map(\.words) == history.fold.open.map(\.words))
    return history.fold.open.map(\.words)
  }

  private typealias Step = (inout History) -> Void

  @Test func foldsWhatTheTableSays() {
    let base = Self.base
    let put: (Int, RecordSwap) -> Step = { number, base in { $0.put(number, base) } }
    let delete: (RecordSwap) -> Step = { base in { $0.delete(base) } }
    let table: [([Step], String)] = [
      ([put(1, .absent), put(2, .any)], "put 2 from null"),
      ([put(1, base), put(2, .absent)], "put 2 from bafyreibase"),
      ([put(1, .absent), delete(.any)], "nothing from null"),
      ([put(1, base), delete(.any)], "delete from bafyreibase"),
      ([put(1, .any), delete(.any)], "delete from unknown"),
      ([put(1, .any), delete(base)], "delete from bafyreibase"),
      ([put(1, .any), delete(.absent)], "delete from null"),
      ([delete(.any), put(1, .any), put(2, base)], "put 2 from bafyreibase"),
      ([delete(base), put(1, .absent)], "put 1 from bafyreibase"),
      ([delete(base), delete(.any)], "delete from bafyreibase"),
      ([put(1, .absent), delete(.any), put(2, .any)], "put 2 from null"),
    ]
    for (steps, want) in table {
      let words = folded { history in for step in steps { step(&history) } }
      #expect(words == [want])
    }
    let two = folded { history in
      for (number, key) in [(1, "b"), (2, "a"), (3, "b")] { history.put(number, .absent, key) }
    }
    #expect(two == ["put 3 from null", "put 2 from null"])
  }

  @Test func whatWasSentIsPerhapsThere() {
    let words = folded { history in
      let id = history.put(1)
      history.sending([id], History.draft(1).cid)
      history.delete()
    }
    #expect(words == ["delete from null"])
  }

  @Test func aDeletionIsOfWhatWasThere() {
    let words = folded { history in
      let id = history.delete()
      history.sending([id], CID("bafyreithere")!)
    }
    #expect(words == ["delete from bafyreithere"])
  }

  @Test func anAnswerIsForWhatItNames() {
    var history = History()
    let first = [history.put(1, Self.base), history.put(2)]
    history.sending(first, History.draft(2).cid)
    history.put(3, Self.base)
    history.ack(first, OutboxAck(.done, cid: History.draft(2).cid))
    #expect(history.fold.open.map(\.words) == ["put 3 from \(History.draft(2).cid)"])
    #expect(history.fold.open[0].change.was == History.draft(2).bytes)
    #expect(history.compacted.open.map(\.words) == history.fold.open.map(\.words))
  }

  @Test func aMergeIsNotWhatOneEdited() {
    var history = History()
    let first = history.put(1, Self.base)
    history.put(2, Self.base)
    history.ack([first], OutboxAck(.merged, cid: CID("bafyreimerged")!))
    #expect(history.fold.open.map(\.words) == ["put 2 from \(History.draft(1).cid)"])
  }

  @Test func whatCameToNothingLeavesItsBase() {
    for ack in [OutboxAck(.dropped, reason: "x"), OutboxAck(.conflict, reason: "x")] {
      var history = History()
      let first = history.put(1, Self.base)
      history.put(2)
      history.ack([first], ack)
      #expect(history.fold.open.map(\.words) == ["put 2 from bafyreibase"])
      #expect(history.fold.closed.map(\.ids) == [[first]])
      #expect(history.compacted.closed.map(\.ids) == [[first]])
      var byHand = OutboxAck(.dropped)
      byHand.isByHand = true
      history.ack([first], byHand)
      #expect(history.fold.closed.isEmpty)
      #expect(history.fold.open.count == 1)
    }
    var history = History()
    let first = history.delete(Self.base)
    history.put(2)
    history.ack([first], OutboxAck(.done))
    #expect(history.fold.open.map(\.words) == ["put 2 from null"])
  }

  @Test func promptsAreNeverFolded() {
    var history = History()
    let first = history.add(.prompt(text: "a", thread: nil))
    history.add(.prompt(text: "a", thread: "t"))
    history.sending([first], nil)
    #expect(history.fold.open.map(\.words) == ["prompt a", "prompt a"])
    #expect(history.fold.open.map(\.state) == [.unconfirmed, .queued])
    history.ack([first], OutboxAck(.done))
    #expect(history.fold.open.count == 1)
    #expect(history.compacted.open.count == 1)
  }

  /// Any history, against a fold of all lines at once by hand.
  @Test(arguments: 0..<200) func anyHistory(_ seed: Int) {
    var generator = Steps(state: UInt64(seed) &* 7_919 &+ 1)
    var history = History()
    var model: [String: Model] = [:]
    for step in 1...24 {
      let key = ["a", "b"][Int.random(in: 0..<2, using: &generator)]
      var one = model[key] ?? Model()
      let base: RecordSwap = [.any, .absent, Self.base][Int.random(in: 0..<3, using: &generator)]
      switch Int.random(in: 0..<8, using: &generator) {
      case 0...2: one.waiting.append((history.put(step, base, key), step, base))
      case 3, 4: one.waiting.append((history.delete(base, key), nil, base))
      case 5: one.inFlight = one.waiting.count
      default:
        guard one.inFlight > 0 else { continue }
        let sent = one.waiting[..<one.inFlight]
        let isDone = Bool.random(using: &generator)
        history.ack(sent.map(\.id), OutboxAck(isDone ? .done : .dropped, reason: "x"))
        let from = one.base(of: sent)
        let isNothing = sent.last?.number == nil && one.isNew
        one.waiting.removeFirst(one.inFlight)
        one.inFlight = 0
        one.base = from
        if isDone, let last = sent.last {
          one.base = last.number.map { .cid(History.draft($0).cid) } ?? (isNothing ? from : .absent)
        }
        if one.waiting.isEmpty { one.base = nil }
      }
      model[key] = one
    }
    for (key, one) in model {
      let item = history.fold.item(of: History.place(key))
      #expect(item?.ids ?? [] == one.waiting.map(\.id))
      guard let item, let last = one.waiting.last else { continue }
      #expect(item.change.base == one.base(of: one.waiting[...]))
      switch item.action {
      case .put(let draft): #expect(last.number.map { History.draft($0).cid } == draft.cid)
      case .nothing: #expect(last.number == nil && one.isNew)
      case .delete: #expect(last.number == nil && !one.isNew)
      case .prompt: Issue.record("a prompt")
      }
    }
    #expect(history.compacted.open.map(\.words) == history.fold.open.map(\.words))
    #expect(history.compacted.closed.map(\.ids) == history.fold.closed.map(\.ids))
  }

  private struct Model {
    var waiting: [(id: TID, number: Int?, base: RecordSwap)] = []
    var inFlight = 0
    var base: RecordSwap?

    /// Whether the first of them makes the record.
    var isNew: Bool { (base ?? waiting[0].base) == .absent }

    /// That of the first which knows one.
    func base(of entries: ArraySlice<(id: TID, number: Int?, base: RecordSwap)>) -> RecordSwap {
      if let base, base != .any { return base }
      return entries.first { $0.base != .any }?.base ?? .any
    }
  }

  /// The same numbers each time.
  private struct Steps: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 31) ^ (state << 33)
    }
  }
}
