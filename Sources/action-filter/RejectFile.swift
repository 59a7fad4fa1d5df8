import CLibc
import Core

/// The file of `-R`: the bad lines as they were read, byte for byte.
final class RejectFile {
  let path: String
  private let descriptor: Int32
  private let writer: RecordWriter
  /// Nil for a pipe or a device.
  let identity: FileIdentity?
  private var isClosed = false

  /// Opens the file, makes it where there is none; nothing is cut off before `clear`.
  init(path: String) throws(WriteFailure) {
    self.path = path
    descriptor = clibc_create(path)
    guard descriptor >= 0 else { throw WriteFailure(code: systemError) }
    writer = RecordWriter(descriptor: descriptor)
    identity = FileIdentity(descriptor: descriptor)
  }

  func clear() throws(WriteFailure) {
    if identity != nil && ftruncate(descriptor, 0) != 0 { throw WriteFailure(code: systemError) }
  }

  /// Adds a line, its LF only if it had one; nothing is written any more after a failure.
  func add(_ line: UnsafeRawBufferPointer, terminated: Bool) throws(WriteFailure) {
    try attempt { () throws(WriteFailure) in
      try writer.write(line)
      if terminated { try writer.newline() }
    }
  }

  func flush() throws(WriteFailure) {
    try attempt { () throws(WriteFailure) in try writer.flush() }
  }

  private func attempt(_ body: () throws(WriteFailure) -> Void) throws(WriteFailure) {
    if isClosed { return }
    isClosed = true
    try body()
    isClosed = false
  }

  /// Some file systems report a failed write only when the file is closed.
  func finish() throws(WriteFailure) {
    try flush()
    if isClosed { return }
    isClosed = true
    if close(descriptor) != 0 && systemError != EINTR { throw WriteFailure(code: systemError) }
  }
}

/// What `--strict` asks of a line besides: well-formed UTF-8 and the whole
/// grammar of RFC 8259, of every value at any depth.
///
/// Why a line is bad and at which byte, counted from 1; nil when it is not, or is empty.
func strictFault(_ line: UnsafeRawBufferPointer, skipped: Int) -> String? {
  if let offset = UTF8Text.firstFault(line) {
    return "invalid UTF-8 at byte \(skipped + offset + 1)"
  }
  guard let (fault, offset) = ScanValidator.firstFault(line), fault != .empty else { return nil }
  return "\(fault.reason) at byte \(skipped + offset + 1)"
}
