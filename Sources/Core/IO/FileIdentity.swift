public import CLibc

/// Which regular file a name or a descriptor stands for: what is read must not
/// be written at the same time.
public struct FileIdentity: Equatable {
  private let device: dev_t
  private let number: ino_t

  /// - Parameter descriptor: an open file.
  /// - Returns: nil when it is not a regular file: pipes and terminals may be
  ///   read and written.
  public init?(descriptor: Int32) {
    guard let status = stat(of: descriptor) else { return nil }
    self.init(status)
  }

  /// - Parameter path: a name; `-` is standard input.
  public init?(path: String) {
    guard let status = path == "-" ? stat(of: 0) : stat(following: path) else { return nil }
    self.init(status)
  }

  private init?(_ status: stat) {
    guard status.isRegular else { return nil }
    (device, number) = (status.st_dev, status.st_ino)
  }
}

/// Tells whether the content of an open file changed: its size and when it was
/// written to last.
public struct FileVersion: Equatable, Sendable {
  /// Bytes.
  public let size: Int64
  /// Nanoseconds since 1970.
  public let modified: Int64

  /// - Parameter descriptor: an open file.
  public init?(_ descriptor: Int32) {
    guard let status = stat(of: descriptor) else { return nil }
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
