import Core
import Records

final class PieceResult {
  struct Bad {
    /// Counted from 1 in the piece.
    let number: Int
    /// Where its bytes are in the lines of the piece, without the LF.
    let line: Range<Int>
    let faults: LineFaults
  }

  /// Lines, one behind the other, that have to be read again, in order.
  struct Candidates {
    let first: Int
    /// Where their bytes are, without the last LF.
    var lines: Range<Int>
  }

  /// How many lines it has; not all were counted where enough was found before its end.
  var lines = 0
  var count = 0
  let output = RecordWriter(collecting: 4096)
  var parts: PieceParts?
  var bad: [Bad] = []
  var unnamed = 0
  var tally: Tally?
  var isCandidates = false
  var candidates: [Candidates] = []

  /// Forgets all, and memory over `limit` bytes.
  func clear(keepingAtMost limit: Int) {
    (lines, count, unnamed) = (0, 0, 0)
    output.clear(keepingAtMost: limit)
    bad.removeAll()
    candidates.removeAll(keepingCapacity: candidates.count < 10_000)
    parts?.clear()
    tally?.clear()
  }
}
