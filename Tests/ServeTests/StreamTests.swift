import Core
import Foundation
import Testing

@testable import agent_serve

@Suite("Delivery")
struct StreamTests {
  private func subscriber(limit: Int = 1 << 20) -> Subscriber {
    Subscriber(connection: Connection(descriptor: -1), limit: limit)
  }

  private func frame(_ id: Int64, size: Int = 10) -> Frame {
    Frame(id: id, bytes: [UInt8](repeating: UInt8(id & 0xff), count: size))
  }

  @Test("A backlog takes up to its limit, and any block when it is empty")
  func backlog() {
    var backlog = Backlog(limit: 10)
    func add(_ block: [UInt8]) -> Bool { backlog.add(block) }
    func take(_ size: Int) -> [UInt8]? { backlog.take(atMost: size) }
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
    var got: [UInt8] = []
    while got.count < 40 { got += try #require(try await all.next()) }
    #expect(got == [6, 7, 8, 9].flatMap { [UInt8](repeating: $0, count: 10) })
    got = []
    while got.count < 20 { got += try #require(try await late.next()) }
    #expect(got == [8, 9].flatMap { [UInt8](repeating: $0, count: 10) })
  }

  @Test("What comes after the end takes away nothing of what waited before it")
  func afterTheEnd() async throws {
    let last = subscriber()
    #expect(last.offer([[1, 2]]))
    last.end(.finished)
    #expect(!last.offer([[3]]))
    #expect(try await last.next() == [1, 2])
    #expect(try await last.next() == nil)
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
      var got = 0
      while got < 1000 { got += try #require(try await quick.next()).count }
    }
    #expect(slow.isEnding)
    await #expect(throws: Subscriber.Dropped.self) { try await slow.next() }
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
    var got: [UInt8] = []
    while let block = try await one.next() { got += block }
    #expect(got.count == 20)
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
