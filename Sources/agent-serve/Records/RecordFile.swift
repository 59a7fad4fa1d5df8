import CLibc
import Core
import Foundation

/// A file of records, read in pieces; a file that makes readers wait (a pipe)
/// does not hold up anything else.
final class RecordFile: @unchecked Sendable {
  private let name: String
  private let queue = DispatchQueue(label: "agent-serve.records")
  // Touched on the queue alone.
  private var input: RecordInput
  private var lines: LineReader
  private var records: RecordReader
  private var line = 0
  private var faults: FaultLog

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: `-` is standard input.
  ///   - diagnostics: takes the faults of lines.
  /// - Throws: `ReadFailure`.
  init(path: String, diagnostics: Diagnostics) throws(ReadFailure) {
    input = try RecordInput(path: path)
    let descriptor = try input.open()
    // A folder can be opened but not read.
    if Foundation.read(descriptor, nil, 0) < 0 { throw ReadFailure(code: systemError) }
    name = path
    faults = FaultLog(diagnostics)
    lines = LineReader(descriptor: descriptor)
    records = RecordReader(now: .now(), isUnique: true)
  }

  /// The next actions and documents: those of one line, or of several up to
  /// `count`.
  ///
  /// Lines that are faulty are reported (see `FaultLog`) and passed over.
  ///
  /// - Returns: nil at the end of the file.
  /// - Throws: `ReadFailure`.
  func next(count: Int) async throws -> [RecordReader.Item]? {
    try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(with: Result { try self.read(count: count) })
      }
    }
  }

  private func read(count: Int) throws -> [RecordReader.Item]? {
    var items: [RecordReader.Item] = []
    while items.count < count {
      let next = try lines.next()
      // Half a line at the end of a damaged file is none.
      if next?.terminated != true { try input.finish() }
      guard let next else {
        faults.finish()
        return items.isEmpty ? nil : items
      }
      line += 1
      do throws(ActionFault) {
        items += try records.read(next.bytes)
      } catch {
        faults.line(name, line, error.reason)
      }
    }
    return items
  }
}
