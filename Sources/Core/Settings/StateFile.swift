import CLibc

/// A small file that a command keeps from run to run: the old content or the
/// new one, never a part, even when the machine loses power.
public struct StateFile: Sendable {
  /// Where it is. A symbolic link is followed.
  public let path: String

  /// - Parameter path: the file, which need not exist; its folder must.
  public init(path: String) { self.path = path }

  /// The content.
  ///
  /// - Parameter limit: the most that is read, bytes.
  /// - Returns: nil when there is no file.
  /// - Throws: `SettingsError` when it is no regular file, too long or unreadable.
  public func read(limit: Int = 1 << 20) throws(SettingsError) -> [UInt8]? {
    do throws(BoundedFile.Failure) {
      return try BoundedFile.contents(of: path, limit: limit).bytes
    } catch {
      if error.isAbsence { return nil }
      throw SettingsError(path, error.reason)
    }
  }

  /// Puts new content in the place of the old: a new file in the same folder,
  /// for the owner alone, is written, brought to disk and renamed, and then the
  /// folder is brought to disk.
  ///
  /// - Throws: `SettingsError`; the old content is then still there.
  public func replace(with bytes: [UInt8]) throws(SettingsError) {
    let target = try resolved()
    var template = Array("\(target).XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw failure(systemError) }
    _ = clibc_close_on_exec(descriptor)
    var code = write(bytes, to: descriptor)
    if code == 0 && fsync(descriptor) != 0 { code = systemError }
    if close(descriptor) != 0 && code == 0 { code = systemError }
    if code == 0 && rename(template, target) != 0 { code = systemError }
    guard code == 0 else {
      unlink(template)
      throw failure(code)
    }
    try syncFolder(of: target)
  }

  private func failure(_ code: Int32) -> SettingsError {
    SettingsError(path, systemReason(code))
  }

  /// The file behind links, so that renaming replaces it and not the link.
  /// What is there and is no regular file (a device, a folder) is never replaced.
  private func resolved() throws(SettingsError) -> String {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if systemError == ENOENT { return path }
      throw failure(systemError)
    }
    guard status.isRegular else { throw SettingsError(path, "not a regular file") }
    guard let real = realpath(path, nil) else { throw failure(systemError) }
    defer { free(real) }
    return String(cString: real)
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    bytes.withUnsafeBytes { content in
      var rest = content
      while !rest.isEmpty {
        let count = CLibc.write(descriptor, rest.baseAddress, rest.count)
        if count < 0 {
          if systemError == EINTR { continue }
          return systemError
        }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
      return 0
    }
  }

  private func syncFolder(of target: String) throws(SettingsError) {
    if let code = Self.syncFolder(of: target) { throw failure(code) }
  }

  /// Brings the folder of a file to disk, so that its name is there after a crash.
  ///
  /// - Returns: the error number when the disk failed.
  @discardableResult
  static func syncFolder(of target: String) -> Int32? {
    let folder =
      switch target.lastIndex(of: "/") {
      case nil: "."
      case target.startIndex: "/"
      case .some(let slash): String(target[..<slash])
      }
    let descriptor = clibc_open(folder, O_RDONLY | O_DIRECTORY)
    // A folder that may be written but not read, or a file system that has no
    // fsync for folders: the rename stands all the same.
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return fsync(descriptor) != 0 && systemError == EIO ? EIO : nil
  }
}
