import CLibc
import Core
import Screen

/// Where the lines go: standard output. On a terminal what goes on stands below them and
/// is drawn in place.
final class CardOutput {
  private let writer: RecordWriter
  private let isTerminal: Bool
  private let fixedWidth: Int?
  let drawsInPlace: Bool
  private let depth: ColourDepth
  private var region = LiveRegion()
  private var settled: [Line] = []
  private var size = WindowSize(of: 1)

  private static let mostSettled = 500

  init(_ options: TurnFormatOptions, interrupted: @escaping () -> Bool) {
    writer = RecordWriter(interrupted: interrupted)
    isTerminal = isatty(1) == 1
    fixedWidth = options.look.width
    drawsInPlace = options.form != .dot && Terminal.canDraw(1)
    depth =
      options.form == .dot
      ? .none
      : ColourDepth.detect(
        options.look.colour, isTerminal: isTerminal, environment: Process.environment)
  }

  /// As asked for, else the terminal's but for the last column, else no limit.
  var width: Int? {
    if let fixedWidth { return fixedWidth == 0 ? nil : fixedWidth }
    return isTerminal ? max(1, size.columns - 1) : nil
  }

  var rows: Int { max(1, size.rows - 1) }

  func measure() { size = WindowSize(of: 1) }

  func write(_ lines: [Line]) throws(WriteFailure) {
    if drawsInPlace {
      settled += lines
      if settled.count > Self.mostSettled { try draw([]) }
      return
    }
    for line in lines {
      try writer.write(line.render(width: nil, depth: depth))
      try writer.newline()
    }
  }

  func draw(_ live: [Line]) throws(WriteFailure) {
    try writer.write(region.update(settled: settled, live: live, size: size, depth: depth))
    settled = []
    try writer.flush()
  }

  /// Writes all that waits, and leaves the cursor at the beginning of a line.
  func settle() throws(WriteFailure) {
    if drawsInPlace { try draw([]) } else { try writer.flush() }
  }

  func leave() throws(WriteFailure) {
    if !region.isEmpty { try writer.write("\n") }
    region.forget()
    try writer.flush()
  }

  func forget() { region.forget() }
}

extension [[Line]] {
  /// Cards that go on, in so many rows.
  func fitted(to rows: Int) -> [Line] {
    guard count <= rows else {
      let hidden = count - rows + 1
      return [Line("… \(hidden) more turns", .dim)]
        + dropFirst(hidden).map { $0.first ?? Line() }
    }
    var room = shares(of: rows)
    // What short cards leave went to the long ones; the newest is seen best.
    var left = rows - room.reduce(0, +)
    for index in indices.reversed() {
      let more = Swift.min(left, self[index].count - room[index])
      room[index] += more
      left -= more
    }
    return zip(self, room).flatMap { Self.cut($0, to: $1) }
  }

  private func shares(of rows: Int) -> [Int] {
    var open = [Int](indices)
    var room = map { _ in 0 }
    var left = rows
    while !open.isEmpty {
      let share = left / open.count
      let small = open.filter { self[$0].count <= share }
      if small.isEmpty {
        for index in open { room[index] = share }
        return room
      }
      for index in small {
        room[index] = self[index].count
        left -= self[index].count
      }
      open.removeAll { self[$0].count <= share }
    }
    return room
  }

  private static func cut(_ card: [Line], to rows: Int) -> [Line] {
    guard card.count > rows, let first = card.first else { return card }
    switch rows {
    case ..<1: return []
    case 1: return [first]
    default:
      let last = card.suffix(rows - 2)
      return [first, Line("  … \(card.count - 1 - last.count) more lines", .dim)] + last
    }
  }
}
