import Core
import Testing

@testable import agent_serve

@Suite("Delivery", .onPoller)
struct StreamTests {
  /// A client that takes at once what it has room for.
  @Poller
  private final class Client: BlockTaker {
    let limit: Int
    /// How many bytes it takes at once.
    var room = 0
    /// What it took so.
    var came: [UInt8] = []
    var cuts = 0
    private var rest: [UInt8] = []
    private(set) lazy var subscriber = Subscriber(self, limit: limit)

    init(limit: Int = 1 << 20) { self.limit = limit }

    var isBehind: Bool { !rest.isEmpty }

    func receive(_ block: Block) -> Bool {
      let bytes = Array(block.chunk[block.content])
      let count = min(room, bytes.count)
      room -= count
      came += bytes[..<count]
      rest = Array(bytes[count...])
      return rest.isEmpty
    }

    func abort(_ reason: String) { cuts += 1 }

    /// What a connection with room for all sends, when so many bytes have come, or at the end.
    func taken(count: Int = .max) async -> [UInt8] {
      var bytes: [UInt8] = []
      while bytes.count < count, let blocks = try? await subscriber.next() {
        bytes += rest
        rest = []
        for block in blocks { bytes += block.chunk[block.content] }
      }
      return bytes
    }
  }

  @Poller
  private func frame(_ id: Int64, size: Int = 10) -> Frame {
    Frame(id: id, bytes: [UInt8](repeating: UInt8(id & 0xff), count: size))
  }

  @Test("A block is a chunk, and its content")
  @Poller
  func block() {
    let block = Block([Array("abc".utf8), Array("defghijklmnop".utf8)])
    #expect(block.chunk == Array("10\r\nabcdefghijklmnop\r\n".utf8))
    #expect(Array(block.chunk[block.content]) == Array("abcdefghijklmnop".utf8))
    #expect(block.count == 16)
  }

  @Test("A backlog takes up to its limit, and any block when it is empty")
  @Poller
  func backlog() {
    var backlog = Backlog(limit: 10)
    func add(_ block: [UInt8]) -> Bool { backlog.add(Block(block)) }
    func receive(_ size: Int) -> [UInt8] {
      backlog.take(atMost: size).flatMap { $0.chunk[$0.content] }
    }
    #expect(add([UInt8](repeating: 1, count: 100)))
    #expect(!add([2]))
    #expect(receive(64).count == 100)
    #expect(backlog.isEmpty)
    #expect(receive(64).isEmpty)
    for byte in UInt8(0)..<10 { #expect(add([byte])) }
    #expect(!add([10]))
    #expect(receive(4) == [0, 1, 2, 3])
    #expect(add([10]))
    #expect(receive(100) == [4, 5, 6, 7, 8, 9, 10])
    for _ in 0..<1000 {
      #expect(add([1, 2]))
      #expect(receive(2) == [1, 2])
    }
    #expect(backlog.count == 0)
  }

  @Test("Who is live gets each action after its cursor once, in order")
  @Poller
  func live() async {
    let hub = Hub(published: 5)
    let all = Client()
    let late = Client()
    #expect(hub.add(all.subscriber))
    #expect(hub.add(late.subscriber))
    #expect(!hub.goLive(all.subscriber, cursor: 4))
    #expect(hub.goLive(all.subscriber, cursor: 5))
    // The store is ahead of what was published.
    #expect(hub.goLive(late.subscriber, cursor: 7))
    hub.publish([frame(6), frame(7), frame(8)], newest: 8)
    hub.publish([frame(9)], newest: 9)
    #expect(
      await all.taken(count: 40) == [6, 7, 8, 9].flatMap { [UInt8](repeating: $0, count: 10) })
    #expect(await late.taken(count: 20) == [8, 9].flatMap { [UInt8](repeating: $0, count: 10) })
  }

  @Test("What nobody follows is not kept, and who comes then finds it in the store")
  @Poller
  func nobody() async {
    let hub = Hub(published: 0)
    hub.publish([], newest: 7)
    #expect(!hub.isFollowed)
    let one = Client()
    #expect(hub.add(one.subscriber))
    #expect(hub.isFollowed)
    #expect(!hub.goLive(one.subscriber, cursor: 6))
    #expect(hub.goLive(one.subscriber, cursor: 7))
    hub.publish([frame(8)], newest: 8)
    #expect(await one.taken(count: 10) == [UInt8](repeating: 8, count: 10))
    hub.remove(one.subscriber)
    #expect(!hub.isFollowed)
  }

  @Test("What comes after the end takes away nothing of what waited before it")
  @Poller
  func afterTheEnd() async {
    let last = Client()
    last.subscriber.offer([Block([1, 2])])
    last.subscriber.end(.finished)
    last.subscriber.offer([Block([3])])
    #expect(await last.taken() == [1, 2])
    #expect(last.subscriber.ending == .finished)
  }

  @Test("Who waits is woken by a block, by the end, and by a cut, which is told once")
  @Poller
  func woken() async {
    let one = Client(limit: 100)
    let first = Poller.start { await one.taken(count: 1) }
    await Task.yield()
    one.subscriber.offer([Block([1])])
    #expect(await first.value == [1])
    let rest = Poller.start { await one.taken() }
    await Task.yield()
    one.subscriber.end(.cut)
    one.subscriber.end(.finished)
    one.subscriber.end(.cut)
    #expect(await rest.value.isEmpty)
    #expect(one.subscriber.ending == .cut)
    #expect(one.cuts == 1)
  }

  @Test("Who waits takes at once what there is room for, and the rest before what comes then")
  @Poller
  func atOnce() async {
    let one = Client(limit: 4)
    one.room = 5
    let rest = Poller.start { await one.taken(count: 6) }
    await Task.yield()
    one.subscriber.offer([Block([1, 2, 3]), Block([4, 5, 6, 7])])
    #expect(one.came == [1, 2, 3, 4, 5])
    one.room = 9
    one.subscriber.offer([Block([8, 9]), Block([10, 11])])
    #expect(await rest.value == [6, 7, 8, 9, 10, 11])
    #expect(one.came.count == 5)
    #expect(one.subscriber.ending == nil)
  }

  @Test("Who does not read is cut off; who reads does not notice")
  @Poller
  func cut() async {
    let hub = Hub(published: 0)
    let slow = Client(limit: 5000)
    let quick = Client(limit: 5000)
    for one in [slow, quick] {
      #expect(hub.add(one.subscriber))
      #expect(hub.goLive(one.subscriber, cursor: 0))
    }
    for id in Int64(1)...20 {
      hub.publish([frame(id, size: 1000)], newest: id)
      _ = await quick.taken(count: 1000)
    }
    #expect(slow.subscriber.ending == .cut)
    #expect(await slow.taken().isEmpty)
    #expect(quick.subscriber.ending == nil)
  }

  @Test("At the end what was published is delivered, then the stream is over")
  @Poller
  func ending() async {
    let hub = Hub(published: 0)
    let one = Client()
    #expect(hub.add(one.subscriber))
    #expect(hub.goLive(one.subscriber, cursor: 0))
    hub.publish([frame(1)], newest: 1)
    hub.publish([frame(2)], newest: 2)
    hub.end()
    #expect(await one.taken().count == 20)
    #expect(one.subscriber.ending == .finished)
    #expect(!hub.add(Client().subscriber))
  }

  @Test("A burst makes one stats frame")
  @Poller
  func stats() {
    let hub = Hub(published: 0)
    let one = Client()
    #expect(hub.add(one.subscriber))
    #expect(hub.goLive(one.subscriber, cursor: 0))
    let start = ContinuousClock.now
    var made = 0
    func beat(after wait: Duration) {
      hub.beat(at: start + wait) {
        made += 1
        return .stats("{}")
      }
    }
    for id in Int64(1)...50 {
      hub.publish([frame(id)], newest: id)
      beat(after: .zero)
    }
    #expect(made == 0)
    beat(after: .seconds(10))
    #expect(made == 1)
    beat(after: .milliseconds(10_100))
    #expect(made == 1)
    // The next action's stats wait for the last ones to be a second old.
    hub.publish([frame(51)], newest: 51)
    beat(after: .milliseconds(10_900))
    #expect(made == 1)
    beat(after: .milliseconds(11_100))
    #expect(made == 2)
    // And without any action every three seconds.
    beat(after: .milliseconds(12_900))
    #expect(made == 2)
    beat(after: .milliseconds(13_000))
    #expect(made == 3)
    beat(after: .milliseconds(13_100))
    #expect(made == 3)
  }

  @Test("Frames have the dashboard's form, and an id")
  @Poller
  func frames() {
    let action = StoredAction(id: 17, action: Fixture.action("daily", content: "a\nb"))
    #expect(
      String(decoding: Frame.action(action).bytes, as: UTF8.self)
        == "event: action_event\nid: 17\ndata: {\"kind\":\"daily\",\"content\":\"a\\nb\","
        + "\"createdAt\":\"2026-03-01T12:00:00.000Z\",\"id\":17}\n\n")
    let snapshot = Frame.snapshotHead([], newestID: 3) + Frame.snapshotTail(stats: "{}")
    #expect(
      String(decoding: snapshot, as: UTF8.self)
        == "event: activity_snapshot\nid: 3\ndata: {\"actions\":[],\"stats\":{}}\n\n")
  }
}
