import CLibc

/// A small file that a command keeps from run to run: the old content or the
/// new one, never a part, even when the machine loses power.
public struct StateFile: Sendable {
  /// Where it is. A symbolic link is followed where nobody else could have made it.
  public let path: String

  /// - Parameter path: the file, which need not exist; its folder must.
  public init(path: String) { self.path = path }

  /// The content, a text, without a byte order mark.
  ///
  /// - Parameter limit: the most that is read, bytes.
  /// - Returns: nil when there is no file.
  /// - Throws: `Failure` when it is not a regular file, too long, unreadable or no UTF-8.
  public func read(limit: Int = 1 << 20) throws(Failure) -> [UInt8]? {
    guard let file = try BoundedFile.contents(of: path, limit: limit) else { return nil }
    return try ForeignText.text(file.bytes, of: path)
  }

  /// Puts new content in the place of the old: a new file in the same folder,
  /// for the owner alone, is written, brought to disk and renamed, and then the
  /// folder is brought to disk.
  ///
  /// - Parameter isAlone: whether nobody else replaces it at this time: what was left by a
  ///   process that was killed while it did is then removed.
  /// - Throws: `Failure`; the old content is then still there.
  public func replace(with bytes: [UInt8], isAlone: Bool = false) throws(Failure) {
    // What is there and is not a regular file (a device, a folder) is never replaced.
    if let status = stat(following: path), !status.isRegular {
      throw Failure(path, "not a regular file")
    }
    let target = try OwnPath.resolve(path)
    let folder = clibc_open_folder(OwnPath.folder(of: target))
    guard folder >= 0 else { throw Failure(path, systemReason(systemError)) }
    defer { close(folder) }
    if isAlone {
      for name in (try? FolderFile.names(in: OwnPath.folder(of: target))) ?? []
      where FolderFile.isTemporary(name, of: OwnPath.name(of: target)) {
        unlinkat(folder, name, 0)
      }
    }
    let code = FolderFile.replace(OwnPath.name(of: target), in: folder, with: bytes)
    guard code == 0 else { throw Failure(path, systemReason(code)) }
  }

  /// Brings the folder of a file to disk, so that its name is there after a crash.
  static func syncFolder(of target: String) {
    let folder = clibc_open_folder(OwnPath.folder(of: target))
    guard folder >= 0 else { return }
    _ = FolderFile.sync(folder)
    close(folder)
  }
}
