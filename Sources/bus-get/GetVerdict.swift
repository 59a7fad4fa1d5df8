import CLibc
import Core

enum GetVerdict: Equatable {
  case done, later
  case never(status: Int32)

  /// EX_TEMPFAIL of sysexits(3).
  private static let temporary: Int32 = 75

  init(status: Int32) {
    switch status {
    case 0: self = .done
    case Self.temporary: self = .later
    default: self = .never(status: status)
    }
  }
}

/// Standard input of `--confirm`: a status for each record that was printed, a line each.
///
/// A line that was not ended says nothing: whoever was killed in it may have meant another number.
struct GetVerdicts {
  private var waiting: [UInt8] = []
  private var number = 0
  private(set) var hasEnded = false

  /// What was said, without waiting for more.
  mutating func next() throws(Failure) -> GetVerdict? {
    while true {
      if let end = waiting.firstIndex(of: 10) {
        number += 1
        let digits = waiting[..<end]
        guard digits.count <= 3, !digits.isEmpty, digits.allSatisfy({ $0 &- 48 < 10 }) else {
          throw Self.fault(number)
        }
        let status = digits.reduce(0 as Int32) { $0 * 10 + Int32($1 - 48) }
        guard status <= 255 else { throw Self.fault(number) }
        waiting.removeFirst(end + 1)
        return GetVerdict(status: status)
      }
      guard waiting.count <= 3 else { throw Self.fault(number + 1) }
      guard !hasEnded, try read() else { return nil }
    }
  }

  private static func fault(_ line: Int) -> Failure {
    Failure("line \(line): not a status from 0 to 255")
  }

  /// Whether there was something.
  private mutating func read() throws(Failure) -> Bool {
    if !isReadable(0) { return false }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = CLibc.read(0, &bytes, bytes.count)
    if count < 0, systemError == EINTR || systemError == EAGAIN { return false }
    hasEnded = count <= 0
    waiting += bytes.prefix(max(count, 0))
    return count > 0
  }
}
