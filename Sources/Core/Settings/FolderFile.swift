import CLibc

/// A small file of a folder that is held open. No link is ever followed: what stands
/// under the name is replaced itself.
public enum FolderFile {
  /// The content of a regular file of the user's own.
  ///
  /// - Returns: nil where there is none, or it is longer than the limit.
  public static func read(_ name: String, in folder: Int32, limit: Int) -> [UInt8]? {
    let descriptor = clibc_open_in(folder, name, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let status = stat(of: descriptor), status.isRegular, status.st_uid == geteuid() else {
      return nil
    }
    return try? BoundedFile.bytes(of: descriptor, limit: limit)
  }

  /// Puts new content in the place of the old: a new file for the owner alone is
  /// written, brought to disk and renamed, and then the folder is brought to disk.
  ///
  /// - Returns: the error number, 0 when that is done; else the old content is there.
  public static func replace(_ name: String, in folder: Int32, with bytes: [UInt8]) -> Int32 {
    let old = clibc_open_in(folder, name, O_RDONLY)
    let wasThere = old >= 0 || systemError != ENOENT
    defer { if old >= 0 { close(old) } }
    let (code, isPlaced) = put(name, in: folder, bytes) {
      renameat(folder, $0, folder, name) == 0 ? 0 : systemError
    }
    // Whoever is told that it failed must not find it done.
    if isPlaced, code != 0 {
      if !wasThere { unlinkat(folder, name, 0) }
      if old >= 0 { restore(name, in: folder, from: old) }
    }
    return code
  }

  /// Gives a name its old content again, on a disk that fails.
  private static func restore(_ name: String, in folder: Int32, from old: Int32) {
    guard let bytes = try? BoundedFile.bytes(of: old, limit: .max) else { return }
    let temporary = name + "." + chance()
    let descriptor = clibc_create_in(folder, temporary)
    guard descriptor >= 0 else { return }
    let isWritten = writeAll(bytes, to: descriptor) == 0
    close(descriptor)
    if !isWritten || renameat(folder, temporary, folder, name) != 0 {
      unlinkat(folder, temporary, 0)
    }
  }

  /// Makes a file for the owner alone, which has its name when all of it is on disk. What
  /// is there under that name is left alone.
  ///
  /// - Returns: the error number, 0 when that is done; EEXIST where something is there.
  public static func create(_ name: String, in folder: Int32, with bytes: [UInt8]) -> Int32 {
    let (code, isPlaced) = put(name, in: folder, bytes) { temporary in
      if linkat(folder, temporary, folder, name) == 0 {
        unlinkat(folder, temporary, 0)
        return 0
      }
      guard [EPERM, ENOTSUP, ENOSYS, EOPNOTSUPP].contains(systemError) else { return systemError }
      // A file system without links: nobody is to make the file at this moment.
      var found = stat()
      if fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 { return EEXIST }
      return renameat(folder, temporary, folder, name) == 0 ? 0 : systemError
    }
    if isPlaced, code != 0 { unlinkat(folder, name, 0) }
    return code
  }

  /// Writes a file under another name, and has it given its own by `finish`, which returns an error
  /// number. Returns an error number, and whether it has its name.
  private static func put(
    _ name: String, in folder: Int32, _ bytes: [UInt8], finish: (_ temporary: String) -> Int32
  ) -> (code: Int32, isPlaced: Bool) {
    var temporary = ""
    var descriptor: Int32 = -1
    for _ in 0..<100 {
      temporary = name + "." + chance()
      descriptor = clibc_create_in(folder, temporary)
      if descriptor >= 0 || systemError != EEXIST { break }
    }
    guard descriptor >= 0 else { return (systemError, false) }
    var code = writeAll(bytes, to: descriptor)
    if code == 0 && fsync(descriptor) != 0 { code = systemError }
    if close(descriptor) != 0 && code == 0 { code = systemError }
    if code == 0 { code = finish(temporary) }
    guard code == 0 else {
      unlinkat(folder, temporary, 0)
      return (code, false)
    }
    return (sync(folder), true)
  }

  static func sync(_ folder: Int32) -> Int32 {
    fsync(folder) != 0 && systemError == EIO ? EIO : 0
  }

  /// The names in a folder, in no order; none where there is no folder, if none is needed.
  ///
  /// - Throws: `Failure` when it cannot be read.
  public static func names(
    in folder: String, isNeeded: Bool = false
  ) throws(Failure) -> [String] {
    guard let stream = opendir(folder) else {
      if systemError == ENOENT, !isNeeded { return [] }
      throw Failure(folder, systemReason(systemError))
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) { names.append(FileName.text(entry)) }
    return names
  }

  /// Whether a name is one that a file has while it is written, see `replace`.
  static func isTemporary(_ name: String, of target: String) -> Bool {
    guard name.hasPrefix(target + ".") else { return false }
    let rest = name.dropFirst(target.count + 1)
    return (5...6).contains(rest.utf8.count)
      && rest.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 >= 0x61 && $0 <= 0x7a }
  }

  private static func chance() -> String {
    String(UInt64.random(in: 36_028_797..<2_176_782_336), radix: 36)
  }
}
