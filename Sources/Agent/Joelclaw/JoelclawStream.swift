import Core
import Frames
import Web

/// The frames of a gateway as a stream of events (agentutils-records(5), "event"): the type of
/// the frame, no id, the frame as it came. A gateway says by itself neither when a request
/// begins nor when it ends: while the agent is at work its status is asked for, and printed
/// when it tells something new.
final class JoelclawStream: StreamLink {
  private var stream: SocketStream!
  private unowned let handler: any StreamHandler
  private var pace = StatusPace()
  /// What was printed last of this connection.
  private var told: JoelclawStatus?
  private var isActive = false

  init(
    _ client: WebClient, _ request: Request, _ server: AgentServer, policy: StreamPolicy,
    handler: any StreamHandler
  ) {
    self.handler = handler
    stream = JoelclawDoor.stream(client, request, server, policy: policy, handler: self)
  }

  var lastEventID: [UInt8] { [] }
  var isOpen: Bool { stream.isOpen }
  func rewind(to id: [UInt8]) {}
  func hold() { stream.hold() }
  func release(now: Double) { stream.release(now: now) }
  func drop(_ reason: String) { stream.drop(reason) }
  func stop() { stream.stop() }

  func tick(now: Double) -> Double {
    if pace.due <= now {
      pace.asked(now)
      stream.send(text: JoelclawDoor.statusFrame)
    }
    return min(stream.tick(now: now), pace.due)
  }

  private func take(_ frame: UnsafeRawBufferPointer) throws(Failure) {
    let type = try JoelclawEvent.type(frame)
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
    var name = type
    name.withUTF8 { name in
      let none = UnsafeRawBufferPointer(rebasing: frame[..<0])
      handler.streamItem(
        .event(
          StreamEventView(
            type: UnsafeRawBufferPointer(name), id: none, data: frame, isPartial: false)))
    }
  }
}

extension JoelclawStream: StreamHandler {
  func streamOpened(_ place: String, isFirst: Bool, down: Double?) {
    told = nil
    isActive = false
    handler.streamOpened(place, isFirst: isFirst, down: down)
    // One comes by itself.
    pace.stop()
  }

  func streamItem(_ item: StreamItem) {
    guard case .message(let message) = item else { return handler.streamItem(item) }
    guard message.isText else { return handler.streamFaulted("a frame that is not text") }
    do throws(Failure) { try take(message.bytes) } catch {
      handler.streamFaulted("a frame that cannot be read: \(error.reason)")
    }
  }

  func streamFaulted(_ reason: String) { handler.streamFaulted(reason) }

  func streamLost(_ reason: String, wait: Double) {
    pace.stop()
    handler.streamLost(reason, wait: wait)
  }

  func streamEnded(_ end: StreamEnd, at place: String) { handler.streamEnded(end, at: place) }
}
