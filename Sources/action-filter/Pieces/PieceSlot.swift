import Core

/// The place of one piece between the thread that reads it and the one that puts all
/// together: its bytes, and what came of them.
final class PieceSlot {
  /// The bytes of its lines, which stay until the piece is done with.
  let buffer: PieceBuffer
  /// What came of them.
  let work: any PieceWork
  /// What the piece is.
  var piece = Piece(path: "")
  /// Why it could not be read to its end.
  var failure: Failure?
  /// Whether all work on it is done; the engine's.
  var isDone = false

  init(size: Int, _ work: any PieceWork) {
    buffer = PieceBuffer(capacity: size + PieceSize.slack)
    self.work = work
  }

  /// Makes it ready for another piece.
  func clear(_ size: Int) {
    buffer.clear(keeping: size + PieceSize.slack)
    work.clear(keepingAtMost: 2 * size)
    // It may hold a file open.
    piece = Piece(path: "")
    (failure, isDone) = (nil, false)
  }
}

/// What a thread makes of a piece, kept until its turn comes.
protocol PieceWork: AnyObject {
  /// Forgets all, and memory over `limit` bytes.
  func clear(keepingAtMost limit: Int)
}
