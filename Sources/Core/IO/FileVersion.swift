import CLibc

/// Tells whether the content of an open file changed: its size and when it was
/// written to last.
public struct FileVersion: Equatable, Sendable {
  /// Bytes.
  public let size: Int64
  /// Nanoseconds since 1970.
  public let modified: Int64

  /// - Parameter descriptor: an open file.
  public init?(_ descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  /// - Parameter status: what fstat(2) said.
  public init(_ status: stat) {
    size = Int64(status.st_size)
    #if os(Linux)
      let time = status.st_mtim
    #else
      let time = status.st_mtimespec
    #endif
    modified = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
