import Core
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import agent_serve

private typealias ByteBuffer = NIOCore.ByteBuffer

@Suite("Delivery")
struct StreamTests {
  private func subscriber(limit: Int = 1 << 20) -> Subscriber {
    Subscriber(limit: limit) {}
  }

  /// What a connection with room for all would send now.
  private func taken(_ subscriber: Subscriber) -> (bytes: [UInt8], isFinished: Bool) {
    var bytes: [UInt8] = []
    while true {
      switch subscriber.next() {
      case .bytes(let piece): bytes += piece.readableBytesView
      case .nothing: return (bytes, false)
      case .finished: return (bytes, true)
      }
    }
  }

  private func frame(_ id: Int64, size: Int = 10) -> Frame {
    Frame(id: id, bytes: [UInt8](repeating: UInt8(id & 0xff), count: size))
  }

  /// The same, when so many bytes have come.
  private func taken(_ subscriber: Subscriber, count: Int) async -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      bytes += taken(subscriber).bytes
      await Task.yield()
    }
    return bytes
  }

  @Test("A backlog takes up to its limit, and any block when it is empty")
  func backlog() {
    var backlog = Backlog(limit: 10)
    func add(_ block: [UInt8]) -> Bool { backlog.add(ByteBuffer(bytes: block)) }
    func take(_ size: Int) -> [UInt8]? {
      backlog.take(atMost: size).map { Array($0.readableBytesView) }
    }
    #expect(add([UInt8](repeating: 1, count: 100)))
    #expect(!add([2]))
    #expect(take(64)?.count == 100)
    #expect(backlog.isEmpty)
    #expect(take(64) == nil)
    for byte in UInt8(0)..<10 { #expect(add([byte])) }
    #expect(!add([10]))
    #expect(take(4) == [0, 1, 2, 3])
    #expect(add([10]))
    #expect(take(100) == [4, 5, 6, 7, 8, 9, 10])
    for _ in 0..<1000 {
      #expect(add([1, 2]))
      #expect(take(2) == [1, 2])
    }
    #expect(backlog.count == 0)
  }

  @Test("Who is live gets each action after its cursor once, in order")
  func live() async throws {
    let hub = Hub(published: 5)
    let all = subscriber()
    let late = subscriber()
    #expect(hub.add(all))
    #expect(hub.add(late))
    #expect(!hub.goLive(all, cursor: 4))
    #expect(hub.goLive(all, cursor: 5))
    // The store is ahead of what was published.
    #expect(hub.goLive(late, cursor: 7))
    hub.publish([frame(6), frame(7), frame(8)])
    hub.publish([frame(9)])
    #expect(
      await taken(all, count: 40) == [6, 7, 8, 9].flatMap { [UInt8](repeating: $0, count: 10) })
    #expect(await taken(late, count: 20) == [8, 9].flatMap { [UInt8](repeating: $0, count: 10) })
  }

  @Test("What comes after the end takes away nothing of what waited before it")
  func afterTheEnd() async throws {
    let last = subscriber()
    #expect(last.offer([ByteBuffer(bytes: [1, 2])]))
    last.end(.finished)
    #expect(!last.offer([ByteBuffer(bytes: [3])]))
    #expect(taken(last) == ([1, 2], true))
    // It is said once.
    #expect(taken(last) == ([], false))
    #expect(!last.isCut)
  }

  @Test("A connection is woken once, until it has asked for all")
  func woken() {
    let count = NIOLockedValueBox(0)
    let one = Subscriber(limit: 100) { count.withLockedValue { $0 += 1 } }
    let block = ByteBuffer(bytes: [1])
    #expect(one.offer([block]) && one.offer([block]))
    #expect(count.withLockedValue { $0 } == 1)
    #expect(taken(one).bytes == [1, 1])
    #expect(one.offer([block]))
    #expect(count.withLockedValue { $0 } == 2)
    // Whatever waits: who is cut off must know.
    one.end(.cut)
    #expect(count.withLockedValue { $0 } == 3)
    #expect(taken(one).bytes.isEmpty)
  }

  @Test("A sender waits until all has left, and hears of an end")
  func sender() async throws {
    let one = subscriber()
    async let sent: Void = one.send(ByteBuffer(bytes: [7]))
    #expect(await taken(one, count: 1) == [7])
    _ = one.next()
    try await sent
    let (waits, entered) = AsyncStream.makeStream(of: Void.self)
    let stuck = Subscriber(limit: 100) { entered.yield() }
    let lost = Task { try await stuck.send(ByteBuffer(bytes: [8])) }
    for await _ in waits { break }
    stuck.end(.cut)
    await #expect(throws: Subscriber.Dropped.self) { try await lost.value }
    await #expect(throws: Subscriber.Dropped.self) { try await stuck.send(ByteBuffer()) }
  }

  @Test("Who does not read is cut off; who reads does not notice")
  func cut() async throws {
    let hub = Hub(published: 0)
    let slow = subscriber(limit: 5000)
    let quick = subscriber(limit: 5000)
    for one in [slow, quick] {
      #expect(hub.add(one))
      #expect(hub.goLive(one, cursor: 0))
    }
    for id in Int64(1)...20 {
      hub.publish([frame(id, size: 1000)])
      _ = await taken(quick, count: 1000)
    }
    #expect(slow.isCut)
    #expect(taken(slow).bytes.isEmpty)
    #expect(!quick.isEnding)
  }

  @Test("At the end what was published is delivered, then the stream is over")
  func ending() async throws {
    let hub = Hub(published: 0)
    let one = subscriber()
    #expect(hub.add(one))
    #expect(hub.goLive(one, cursor: 0))
    hub.publish([frame(1)])
    hub.publish([frame(2)])
    hub.end()
    let got = taken(one)
    #expect(got.bytes.count == 20)
    #expect(got.isFinished)
    #expect(!hub.add(subscriber()))
  }

  @Test("A burst makes one stats frame")
  func stats() {
    let hub = Hub(published: 0)
    let one = subscriber()
    #expect(hub.add(one))
    #expect(hub.goLive(one, cursor: 0))
    let start = ContinuousClock.now
    var made = 0
    func beat(after wait: Duration) {
      hub.beat(at: start + wait) {
        made += 1
        return .stats("{}")
      }
    }
    for id in Int64(1)...50 {
      hub.publish([frame(id)])
      beat(after: .zero)
    }
    #expect(made == 0)
    beat(after: .seconds(10))
    #expect(made == 1)
    beat(after: .milliseconds(10_100))
    #expect(made == 1)
    // The next action's stats wait for the last ones to be a second old.
    hub.publish([frame(51)])
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
  func frames() {
    let action = StoredAction(id: 17, action: Fixture.action("daily", content: "a\nb"))
    #expect(
      String(decoding: Frame.action(action).bytes, as: UTF8.self)
        == "event: action_event\nid: 17\ndata: {\"kind\":\"daily\",\"content\":\"a\\nb\","
        + "\"createdAt\":\"2026-03-01T12:00:00.000Z\",\"id\":17}\n\n")
    #expect(
      String(decoding: Frame.snapshot([], newestID: 3, stats: "{}").bytes, as: UTF8.self)
        == "event: activity_snapshot\nid: 3\ndata: {\"actions\":[],\"stats\":{}}\n\n")
  }
}
