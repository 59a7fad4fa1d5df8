import CLibc

/// A folder for this process alone, which goes with it.
public struct ScratchFolder {
  /// Where it is.
  public let path: String

  /// Makes one in `$TMPDIR`, or ends with a message.
  public init(_ diagnostics: Diagnostics) {
    let place = Process.environment("TMPDIR") ?? "/tmp"
    guard let made = temporaryFolder(beside: "\(place)/\(diagnostics.program)") else {
      diagnostics.fail("\(place): no folder can be made")
    }
    path = made
  }

  /// Removes it with all that is in it.
  public func remove() { Self.remove(path) }

  private static func remove(_ folder: String) {
    for name in (try? FolderFile.names(in: folder)) ?? [] where name != "." && name != ".." {
      let path = Folders.join(folder, name)
      if unlink(path) != 0 { remove(path) }
    }
    rmdir(folder)
  }
}

extension EndSignals {
  /// Reads a line, and nothing behind it, which may be for somebody else.
  ///
  /// - Parameter handleSignal: ends us where a signal has come.
  /// - Returns: nil at the end of the file.
  public static func line(from file: Int32, handleSignal: () -> Void) -> [UInt8]? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      var files = [descriptor, file].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      _ = poll(&files, 2, -1)
      handleSignal()
      guard files[1].revents != 0 else { continue }
      let count = read(file, &byte, 1)
      if count < 0, systemError == EINTR || systemError == EAGAIN { continue }
      if count <= 0 { return line.isEmpty ? nil : line }
      if byte == 10 { return line }
      if line.count < 65536 { line.append(byte) }
    }
  }
}
