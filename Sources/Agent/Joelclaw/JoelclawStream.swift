import Core
import Frames
import Turns
import Web

/// The frames of a gateway as a stream of events (agentutils-records(5), "event"): the type of
/// the frame, no id, the frame as it came. A gateway says by itself neither when a request
/// begins nor when it ends: while the agent is at work its status is asked for, and printed
/// when it tells something new.
final class JoelclawStream {
  private let follow: Follow
  private let request: Request
  private var pace = StatusPace()
  private var told: JoelclawStatus?
  private var isActive = false

  init(_ follow: Follow, _ request: Request) { (self.follow, self.request) = (follow, request) }

  func run() throws(LinkEnd) -> Never {
    let socket = try LiveSocket.connect(
      follow, request, options: JoelclawBackend.options, idle: follow.policy.idleTimeout)
    follow.opened(socket.place)
    (told, isActive) = (nil, false)
    // One comes by itself.
    pace.stop()
    let idle = follow.policy.idleTimeout
    while true {
      if pace.due <= Clock.monotonic {
        pace.asked(Clock.monotonic)
        socket.send(text: JoelclawBackend.statusFrame)
      }
      switch try socket.receive(
        idle: idle, pingEvery: JoelclawBackend.ping(idle),
        mostUnanswered: JoelclawBackend.mostUnanswered,
        until: pace.due)
      {
      case .message(let message) where message.isText: try receive(message.bytes)
      case .message: follow.fault("a frame that is not text")
      case .oversize(let bytes): follow.oversize(bytes: bytes)
      case nil: continue
      }
    }
  }

  private func receive(_ frame: UnsafeRawBufferPointer) throws(LinkEnd) {
    let type: String
    do throws(Failure) { type = try JoelclawEvent.type(frame) } catch {
      return follow.fault("a frame that cannot be read: \(error.reason)")
    }
    let now = Clock.monotonic
    // It is printed as it came, whatever is in it.
    switch (try? JoelclawEvent(frame)) ?? .other {
    case .status(let status):
      isActive = status.active != nil
      if isActive { pace.answered(now) } else { pace.stop() }
      if told == status { return }
      told = status
    case .turnEnd: pace.begin(now)
    case .text, .toolCall, .toolResult, .error: if !isActive { pace.begin(now, after: 0) }
    case .other: break
    }
    try follow.print(HeldEvent(type: Array(type.utf8), data: Array(frame)))
  }
}
