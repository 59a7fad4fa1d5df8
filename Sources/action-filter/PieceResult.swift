import Core
import Records

/// What came of a piece.
final class PieceResult: PieceWork {
  /// A bad line.
  struct Bad {
    /// Counted from 1 in the piece.
    let number: Int
    /// Where its bytes are in the lines of the piece, without the LF.
    let line: Range<Int>
    let faults: LineFaults
  }

  /// Lines, one behind the other, that have to be read again, in order.
  struct Candidates {
    /// The number of the first one, see `Bad`.
    let first: Int
    /// Where their bytes are, without the last LF.
    var lines: Range<Int>
  }

  /// How many lines it has; not all were counted where enough was found before its end.
  var lines = 0
  /// How many actions were selected.
  var count = 0
  /// What is to be written.
  let output = RecordWriter(collecting: 4096)
  /// In which order, where it is not in one piece.
  var parts: PieceParts?
  var bad: [Bad] = []
  /// How many more faults there are, in lines that nobody asks for.
  var unnamed = 0
  /// What its actions come to, where they are counted by groups.
  var tally: Tally?
  /// Whether the thread only looked for lines that matter, and which these are.
  var isCandidates = false
  var candidates: [Candidates] = []

  func clear(keepingAtMost limit: Int) {
    (lines, count, unnamed) = (0, 0, 0)
    output.clear(keepingAtMost: limit)
    bad.removeAll()
    candidates.removeAll(keepingCapacity: candidates.count < 10_000)
    parts?.clear()
    tally?.clear()
  }
}

extension PieceSlot {
  /// What came of its lines.
  var result: PieceResult {
    guard let result = work as? PieceResult else { preconditionFailure("another engine's slot") }
    return result
  }
}
