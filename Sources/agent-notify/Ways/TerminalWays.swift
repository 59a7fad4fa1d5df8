import CLibc
import Core
import Records
import Screen

/// A line on standard output.
final class LineWay: Way {
  let name = "line"
  private let writer = RecordWriter(interrupted: { EndSignals.hasPending })

  func post(_ delivery: Delivery) throws(WriteFailure) {
    let time = TimeText.absolute(Timestamp.now(), zone: TimeText.local).dropFirst(11)
    try writer.write("\(time) \(delivery.urgency.rawValue)  \(WayText.line(delivery))\n")
    try writer.flush()
  }
}

/// The bell of the terminal that the command was started at.
final class BellWay: Way {
  let name = "bell"
  private let outcome: Outcome

  init(_ outcome: Outcome) { self.outcome = outcome }

  func post(_ delivery: Delivery) {
    let terminal = clibc_open("/dev/tty", O_WRONLY | O_NOCTTY | O_NONBLOCK)
    guard terminal >= 0 else { return outcome.fail(name, "no terminal") }
    defer { close(terminal) }
    var bell: UInt8 = 7
    // Who does not read the terminal hears no bell, either.
    _ = write(terminal, &bell, 1)
  }
}
