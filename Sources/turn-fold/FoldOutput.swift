import Core
import Records
import Turns

/// Writes what changed, each whole.
struct FoldOutput {
  private let options: FoldOptions
  private let writer = RecordWriter()
  private let pen = RecordPen()
  private var pace = FoldPace()
  /// Of what is written once: a turn that has ended. How long it took may be told behind that.
  private var ended: (any FoldedEntity)?
  private(set) var hasTold = false

  init(_ options: FoldOptions) { self.options = options }

  mutating func tell(_ changed: [any FoldedEntity]) throws(WriteFailure) {
    for entity in changed where isWanted(entity) {
      if options.isFinal {
        if ended === entity { continue }
        try writeEnded()
        if entity.isEnded, entity.marks.toldSize == nil, !entity.marks.isWithdrawal {
          if case .turn = entity.entity { ended = entity } else { try write(entity) }
        }
        continue
      }
      // What was never told need not be taken back.
      if entity.marks.isWithdrawal, entity.marks.toldSize == nil { continue }
      if pace.isDue(entity) { try write(entity) }
    }
  }

  mutating func pass(_ line: UnsafeRawBufferPointer) throws(WriteFailure) {
    if options.isFinal || options.isSearch { return }
    try writer.writeLine(line)
  }

  mutating func write(states: [[UInt8]]) throws(WriteFailure) {
    for state in states {
      hasTold = true
      try writer.write(state)
      try writer.newline()
    }
  }

  /// Tells all that waits, before a read that may block and at the end.
  mutating func flush() throws(WriteFailure) {
    try writeEnded()
    for entity in pace.rest() { try write(entity) }
    try writer.flush()
  }

  private mutating func writeEnded() throws(WriteFailure) {
    guard let entity = ended else { return }
    ended = nil
    try write(entity)
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
