import Core

final class PieceSlot {
  /// The bytes of its lines, which stay until the piece is done with.
  let buffer: PieceBuffer
  let result = PieceResult()
  var piece = Piece(path: "")
  var failure: Failure?
  var isDone = false

  init(size: Int) { buffer = PieceBuffer(capacity: size + PieceSize.slack) }

  /// Makes it ready for another piece.
  func clear(_ size: Int) {
    buffer.clear(keeping: size + PieceSize.slack)
    result.clear(keepingAtMost: 2 * size)
    // It may hold a file open.
    piece = Piece(path: "")
    (failure, isDone) = (nil, false)
  }
}
