import CLibc
import Core
import Records

/// Whether and how files are read by several threads, which are made for the first file
/// that is large enough.
final class PieceRun {
  private let options: FilterOptions
  private let jobs: Int
  private let size: Int
  private let copy: () -> FilterOptions?

  /// Nil where nothing would be gained.
  init?(_ options: FilterOptions, size: Int, copy: @escaping () -> FilterOptions?) {
    jobs = options.jobs == 0 ? Int(clibc_cores()) : options.jobs
    (self.options, self.size, self.copy) = (options, size, copy)
    // Who is meant by a name may change with every line. What is counted twice is counted here.
    if jobs < 2 || options.hasNames || options.times != nil && !options.isUnique { return nil }
  }

  /// The spans of a file; nil for one that a thread has read before others have begun.
  func spans(of part: (file: Int32, range: Range<Int64>), _ path: String) -> FileSpans? {
    if part.range.count <= 2 * size { return nil }
    return FileSpans(of: part.file, part.range, path: path, size: size)
  }

  /// Whether threads only look for the lines that count, for what is done with an action
  /// depends on those before it.
  private var isCandidates: Bool {
    options.isUnique || options.output == .groups && options.maxCount < .max
  }

  private(set) lazy var engine: PieceEngine = {
    let workers = (0..<jobs).compactMap { _ in
      copy().map { PieceFilter($0, isCandidates: isCandidates).work(on:) }
    }
    return PieceEngine(workers, size: size)
  }()
}

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
      Bad(number: line.number, line: lines.range(of: line), faults: isSaid ? faults : LineFaults()))
  }
}
