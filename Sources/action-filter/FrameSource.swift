import Archive
import Core

/// The frames of packed files, one file after the other, that may hold what is looked for;
/// each thread unpacks its own.
final class FrameSource: PieceSource {
  private let queue: InputQueue
  private let isWanted: (FrameSummary) -> Verdict
  private var file: PackedFile?
  private var path = ""
  private var place = 0

  enum Verdict {
    case skipped
    case read
    /// So many actions are selected, which need not be read for it; whether their lines are
    /// what is printed.
    case taken(Int, printed: Bool)
  }

  /// Nil when what comes next is no packed file.
  init?(_ queue: InputQueue, isWanted: @escaping (FrameSummary) -> Verdict) {
    (self.queue, self.isWanted) = (queue, isWanted)
    guard open() else { return nil }
  }

  private func open() -> Bool {
    place = 0
    let next = queue.takePacked { summary in
      if case .skipped = isWanted(summary) { false } else { true }
    }
    (file, path) = (next?.file, next?.path ?? "")
    return file != nil
  }

  func next(_ buffer: PieceBuffer) throws(Failure) -> Piece? {
    repeat {
      while let file, place < file.frames.count {
        let frame = file.frames[place]
        place += 1
        switch isWanted(frame.summary) {
        case .skipped: continue
        case .read: return piece(frame, of: file)
        case .taken(let count, let isPrinted):
          var piece = piece(frame, of: file)
          piece.taken = count
          if !isPrinted { piece.fill = nil }
          return piece
        }
      }
    } while open()
    return nil
  }

  private func piece(_ frame: PackedFrame, of file: PackedFile) -> Piece {
    var piece = Piece(path: path, firstLine: frame.firstLine) {
      (buffer) throws(Failure) in
      try Self.fill(buffer, with: frame, of: file)
    }
    piece.isAlone = true
    return piece
  }

  private final class Tool {
    let decoder = FrameDecoder()
    var room: [UInt8] = []
  }

  private static func fill(
    _ buffer: PieceBuffer, with frame: PackedFrame, of file: PackedFile
  ) throws(Failure) {
    let tool = buffer.tool as? Tool ?? Tool()
    buffer.tool = tool
    let length = frame.summary.length
    try file.read(frame, through: &tool.room, with: tool.decoder) { length in
      buffer.reserve(length + 1)
      return UnsafeMutableRawBufferPointer(start: buffer.base, count: length)
    }
    (buffer.count, buffer.lines) = (length, 0..<length)
  }
}
