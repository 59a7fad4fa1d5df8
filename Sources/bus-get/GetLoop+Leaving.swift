import Bus
import CLibc
import Core

/// How bus-get leaves: nothing is asked for any more, a started line is ended, what is in hand is
/// given back, and the server says that it knows.
///
/// In another order what is given back would come to our own requests, and be gone for as long as
/// nobody acknowledges it.
extension GetLoop {
  /// How long a reader has for the rest of a line, seconds.
  private static let graceForLine = 1.0
  /// How long an answer may take, seconds.
  private static let graceForAnswer = 2.0

  /// - Throws: `SettingsError`, `WriteFailure`; a signal ends the process.
  func leave() throws {
    var failure: WriteFailure?
    if case .writing(let reason) = end { failure = reason }
    stream.link.stopPulls()
    if !consumer.isOwn {
      // What was under way comes before the answer.
      roundTrip("x", isLast: false)
      arrivals(now: Clock.monotonic)
    }
    if failure == nil { failure = finishLine() }
    if options.confirms { judge() }
    job?.end()
    if !consumer.isOwn {
      for record in inHand { stream.link.tell(record.message.reply, "-NAK") }
    }
    roundTrip("y", isLast: true)
    _ = try state?.save(now: Clock.monotonic, force: true)
    if let failure { throw failure }
    if case .signal(let number) = end { Process.die(by: number) }
  }

  /// Ends a line that was begun, if the reader takes the rest in time.
  private func finishLine() -> WriteFailure? {
    let deadline = Clock.monotonic + Self.graceForLine
    do throws(WriteFailure) {
      while output.isInsideLine {
        for (record, bytes) in try output.writeLine() { wrote(record, bytes: bytes) }
        let left = deadline - Clock.monotonic
        guard output.isInsideLine, left > 0 else { break }
        var entry = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, Int32(left * 1000))
      }
      return nil
    } catch {
      return error
    }
  }

  /// Asks something whose answer says that all before it arrived.
  private func roundTrip(_ token: String, isLast: Bool) {
    guard stream.link.isUp, let name = consumer.name else { return }
    let request =
      isLast && consumer.isOwn
      ? BusRequest.deleteConsumer(stream.name, name) : .consumerInfo(stream.name, name)
    stream.link.publish(request.subject, answerTo: token, .init(start: nil, count: 0))
    let deadline = Clock.monotonic + Self.graceForAnswer
    while Clock.monotonic < deadline {
      do throws(BusFailure) {
        if try stream.link.turn(now: Clock.monotonic, owed: nil) != nil { return }
      } catch {
        return
      }
      while let arrival = stream.link.answer() {
        guard case .message(let message) = arrival else { return }
        if message.token == token { return }
      }
      var none: [pollfd] = []
      stream.link.wait(for: &none, until: deadline)
    }
  }
}
