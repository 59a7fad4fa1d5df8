import Core
import Foundation
import Records

/// A file of records, read in pieces; a file that makes readers wait (a pipe)
/// does not hold up anything else.
final class RecordFile: @unchecked Sendable {
  private let queue = DispatchQueue(label: "agent-serve.records")
  // Touched on the queue alone.
  private var input: RecordInput
  private var records: RecordReader
  private var faults: FaultLog

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: `-` is standard input.
  ///   - diagnostics: takes the faults of lines.
  /// - Throws: `ReadFailure`.
  init(path: String, diagnostics: Diagnostics) throws(ReadFailure) {
    input = try RecordInput(path: path)
    faults = FaultLog(diagnostics)
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
      guard let line = try input.next() else {
        faults.finish()
        return items.isEmpty ? nil : items
      }
      do throws(ActionFault) {
        items += try records.read(line.bytes)
      } catch {
        faults.line(input.path, line.number, error.reason)
      }
    }
    return items
  }
}
