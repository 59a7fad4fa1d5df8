import CLibc
import Core

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
