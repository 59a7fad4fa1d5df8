import Core
import Records

/// The work of one thread: filters the lines of a piece into memory.
final class PieceFilter {
  private var filter: LineFilter
  private let isCandidates: Bool

  init(_ options: FilterOptions, isCandidates: Bool) {
    var options = options
    self.isCandidates = isCandidates
    if isCandidates {
      options.isUnique = false
      options.output = .count
      options.maxCount = .max
    }
    filter = LineFilter(options, to: RecordWriter(collecting: 4096), isPiece: true)
  }

  func work(on slot: PieceSlot) {
    slot.buffer.endLastLine()
    var lines = PieceLines(slot)
    let result = slot.result
    result.isCandidates = isCandidates
    if isCandidates { filter.pick(&lines, result) } else { filter.handle(&lines, result) }
    result.lines = lines.count
    filter.output.move(to: result)
  }
}

extension LineFilter {
  /// Treats the lines of a piece.
  fileprivate mutating func handle(_ lines: inout PieceLines, _ result: PieceResult) {
    while !output.isDone, let line = nextLine(&lines) {
      // Nothing is written here, and nothing can go wrong with it.
      if (try? handle(line)) == false {
        result.note(faults, in: line, lines, isKept: options.rejects != nil)
      }
    }
  }

  fileprivate mutating func pick(_ lines: inout PieceLines, _ result: PieceResult) {
    while let line = nextLine(&lines) {
      let before = (output.count, output.others)
      if (try? handle(line)) == true, before == (output.count, output.others) { continue }
      result.add(candidate: lines.range(of: line), number: line.number)
    }
  }

  @inline(__always)
  func nextLine(_ lines: inout PieceLines) -> RecordInput.Line? {
    if let prefilter { lines.next(with: prefilter) } else { lines.next() }
  }
}

extension PieceResult {
  fileprivate func add(candidate line: Range<Int>, number: Int) {
    if let last = candidates.last, last.lines.upperBound + 1 == line.lowerBound {
      candidates[candidates.count - 1].lines = last.lines.lowerBound..<line.upperBound
    } else {
      candidates.append(.init(first: number, lines: line))
    }
  }

  /// Notes a bad line: the first ones, which are said, or all where they are kept.
  fileprivate func note(
    _ faults: LineFaults, in line: RecordInput.Line, _ lines: PieceLines, isKept: Bool
  ) {
    let isSaid = bad.count < FaultLog.limit
    if !isSaid { unnamed += faults.count }
    if !isSaid && !isKept { return }
    bad.append(
      Bad(
        number: line.number, line: lines.range(of: line), faults: isSaid ? faults : LineFaults()))
  }
}
