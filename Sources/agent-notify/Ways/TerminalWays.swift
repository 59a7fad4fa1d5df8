import CLibc
import Core
import Records
import Screen

final class LineWay: Way {
  let name = "line"
  var ended: [WayEnd] = []
  private let writer = RecordWriter(interrupted: { EndSignals.hasPending })
  private let rings: Bool

  init(rings: Bool = false) { self.rings = rings }

  func post(_ telling: Telling) throws(WriteFailure) {
    let delivery = telling.delivery
    let time = TimeText.absolute(Timestamp.now(), zone: TimeText.local).dropFirst(11)
    try writer.write("\(time) \(delivery.urgency.rawValue)  \(WayText.line(delivery))\n")
    try writer.flush()
    if rings { _ = BellWay.ring() }
    ended.append(WayEnd(tellings: [telling], failure: nil))
  }
}

final class BellWay: Way {
  let name = "bell"
  var ended: [WayEnd] = []

  func post(_ telling: Telling) {
    let failure = Self.ring() ? nil : WayFailure(reason: "no terminal")
    ended.append(WayEnd(tellings: [telling], failure: failure))
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
