import Core

final class PieceSlot {
  /// The bytes of its lines, which stay until the piece is done with.
  let buffer: PieceBuffer
  let work: any PieceWork
  var piece = Piece(path: "")
  var failure: Failure?
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

protocol PieceWork: AnyObject {
  /// Forgets all, and memory over `limit` bytes.
  func clear(keepingAtMost limit: Int)
}
