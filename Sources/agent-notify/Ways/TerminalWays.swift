import CLibc
import Core
import Records
import Screen

final class LineWay: Way {
  private let writer = RecordWriter(interrupted: { EndSignals.hasPending })
  private let rings: Bool

  init(rings: Bool = false) {
    self.rings = rings
    super.init("line")
  }

  override func post(_ telling: Telling) throws(WriteFailure) {
    let delivery = telling.delivery
    let time = TimeText.absolute(Timestamp.now(), zone: TimeText.local).dropFirst(11)
    try writer.write("\(time) \(delivery.urgency.rawValue)  \(WayText.line(delivery))\n")
    try writer.flush()
    if rings { _ = BellWay.ring() }
    end([telling])
  }
}

final class BellWay: Way {
  init() { super.init("bell") }

  override func post(_ telling: Telling) {
    end([telling], Self.ring() ? nil : Failure("no terminal", .temporary))
  }

  /// Whether there is a terminal.
  static func ring() -> Bool {
    let terminal = clibc_open("/dev/tty", O_WRONLY | O_NOCTTY | O_NONBLOCK)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    var bell: UInt8 = 7
    // Who does not read the terminal hears no bell, either.
    _ = write(terminal, &bell, 1)
    return true
  }
}
