import CLibc
import Core

/// Where an answer goes as audio. Like the file of a shell's `>` it is made, and emptied,
/// before anything is said: that it cannot be is known before.
struct SpeechFile {
  private let path: String
  private let descriptor: Int32

  init(_ path: String) throws(Failure) {
    self.path = path
    descriptor = clibc_create(path)
    guard descriptor >= 0 else { throw Failure(path, systemReason(systemError)) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.isRegular, ftruncate(descriptor, 0) != 0 {
      throw Failure(path, systemReason(systemError))
    }
  }

  func write(_ bytes: [UInt8]) -> String? {
    let writer = RecordWriter(descriptor: descriptor)
    do throws(WriteFailure) {
      try writer.write(bytes)
      try writer.flush()
    } catch {
      return "\(path): \(error.reason)"
    }
    return close(descriptor) == 0 ? nil : "\(path): \(systemReason(systemError))"
  }
}
