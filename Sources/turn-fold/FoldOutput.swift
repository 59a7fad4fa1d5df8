import Core
import Turns

/// Writes what changed, each whole.
///
/// A text that grows would be written again with each of its pieces: the longer it is, the
/// rarer. Below `wholeSize` every change is written. Above, a text that only grew is written
/// again when it is an eighth longer, when anything else changes, or when nothing more is to
/// be read for now: so what is written of a file is linear to it, and a live pipe has no
/// delay.
struct FoldOutput {
  private let options: FoldOptions
  private let writer = RecordWriter()
  private let pen = RecordPen()
  /// What grew and was not told.
  private var waiting: [any FoldedEntity] = []
  /// Whether anything was told.
  private(set) var hasTold = false

  /// Bytes of a text.
  private static let wholeSize = 4096
  /// So many may wait before those that need no longer are taken off the list.
  private var mostWaiting = 256

  init(_ options: FoldOptions) { self.options = options }

  /// Tells what an event changed.
  mutating func tell(_ changed: [any FoldedEntity]) throws(WriteFailure) {
    for entity in changed where isWanted(entity) {
      if options.isFinal {
        if entity.isEnded, entity.marks.toldSize == nil, !entity.marks.isWithdrawal {
          try write(entity)
        }
        continue
      }
      // What was never told need not be taken back.
      if entity.marks.isWithdrawal, entity.marks.toldSize == nil { continue }
      let size = entity.textSize
      let told = entity.marks.toldSize ?? 0
      if entity.marks.hasNews || size < Self.wholeSize || size - told >= told / 8 {
        try write(entity)
      } else {
        wait(entity)
      }
    }
  }

  /// Passes a line on.
  mutating func pass(_ line: UnsafeRawBufferPointer) throws(WriteFailure) {
    if options.isFinal || options.isSearch { return }
    try writer.writeLine(line)
  }

  /// Writes what is known at the end.
  mutating func write(states: [[UInt8]]) throws(WriteFailure) {
    for state in states {
      hasTold = true
      try writer.write(state)
      try writer.newline()
    }
  }

  /// Tells all that waits, before a read that may block and at the end.
  mutating func flush() throws(WriteFailure) {
    for entity in waiting {
      entity.marks.isWaiting = false
      if entity.textSize != entity.marks.toldSize { try write(entity) }
    }
    waiting.removeAll(keepingCapacity: true)
    try writer.flush()
  }

  private mutating func wait(_ entity: any FoldedEntity) {
    if entity.marks.isWaiting { return }
    if waiting.count >= mostWaiting {
      waiting.removeAll { entity in
        let isTold = entity.textSize == entity.marks.toldSize
        if isTold { entity.marks.isWaiting = false }
        return isTold
      }
      mostWaiting = max(256, waiting.count * 2)
    }
    entity.marks.isWaiting = true
    waiting.append(entity)
  }

  private func isWanted(_ entity: any FoldedEntity) -> Bool {
    if !options.isSearch { return true }
    let place = entity.place
    let isOfThread =
      options.threads.isEmpty || place.thread.map(options.threads.contains) ?? false
    return isOfThread && (options.turns.isEmpty || place.turn.map(options.turns.contains) ?? false)
  }

  private mutating func write(_ entity: any FoldedEntity) throws(WriteFailure) {
    entity.write(with: pen)
    entity.marks.tell(size: entity.textSize)
    hasTold = true
    try pen.take { bytes throws(WriteFailure) in try writer.write(bytes) }
  }
}
