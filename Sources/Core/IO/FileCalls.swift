// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CLibc

// The calls of the system that take names of files, for names in Strings. Each
// stands before the C function of the same name, which would take the UTF-8 of the
// String for the name; see `FileName`.

/// open(2), closed on exec.
public func clibc_open(_ name: String, _ flags: Int32) -> Int32 {
  FileName.with(name) { CLibc.clibc_open($0, flags) }
}

/// open(2) of a file that is made if need be, to be written.
public func clibc_create(_ name: String) -> Int32 {
  FileName.with(name) { CLibc.clibc_create($0) }
}

/// open(2) of a file that is made if need be, to be read and added to.
public func clibc_append(_ name: String) -> Int32 {
  FileName.with(name) { CLibc.clibc_append($0) }
}

/// mkfifo(3), and open(2) of it.
public func clibc_fifo(_ name: String) -> Int32 { FileName.with(name) { CLibc.clibc_fifo($0) } }

/// connect(2) to a socket of this machine.
public func clibc_connect_local(_ name: String) -> Int32 {
  FileName.with(name) { CLibc.clibc_connect_local($0) }
}

/// listen(2) at a socket of this machine.
public func clibc_listen_local(_ name: String) -> Int32 {
  FileName.with(name) { CLibc.clibc_listen_local($0) }
}

/// A descriptor that tells when something happens in a folder.
public func clibc_folder_watch(_ name: String) -> Int32 {
  FileName.with(name) { CLibc.clibc_folder_watch($0) }
}

/// A folder or a file that a descriptor is to tell the changes of.
@discardableResult
public func clibc_changes_add(_ descriptor: Int32, _ name: String) -> Int32 {
  FileName.with(name) { CLibc.clibc_changes_add(descriptor, $0) }
}

/// When a file was made, nanoseconds since 1970; 0 where the system does not tell.
public func clibc_born(_ name: String) -> Int64 { FileName.with(name) { CLibc.clibc_born($0) } }

/// access(2).
public func access(_ name: String, _ mode: Int32) -> Int32 {
  FileName.with(name) { CLibc.access($0, mode) }
}

/// lstat(2).
public func lstat(_ name: String, _ status: UnsafeMutablePointer<stat>) -> Int32 {
  FileName.with(name) { CLibc.lstat($0, status) }
}

/// mkdir(2).
@discardableResult
public func mkdir(_ name: String, _ mode: mode_t) -> Int32 {
  FileName.with(name) { CLibc.mkdir($0, mode) }
}

/// opendir(3).
public func opendir(_ name: String) -> OpaquePointer? {
  FileName.with(name) { CLibc.opendir($0) }
}

/// readlink(2): what a link says; nil when it is none, or says more than a path may.
public func readlink(_ name: String) -> String? {
  var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
  let count = FileName.with(name) { CLibc.readlink($0, &bytes, bytes.count) }
  return count > 0 && count < bytes.count ? FileName.text(Array(bytes[..<count])) : nil
}

/// realpath(3); nil with errno.
public func realpath(_ name: String) -> String? {
  guard let real = FileName.with(name, { CLibc.realpath($0, nil) }) else { return nil }
  defer { free(real) }
  return FileName.text(real)
}

/// rename(2).
@discardableResult
public func rename(_ name: String, _ other: String) -> Int32 {
  FileName.with(name) { name in FileName.with(other) { CLibc.rename(name, $0) } }
}

/// openat(2), closed on exec.
public func clibc_open_in(_ folder: Int32, _ name: String, _ flags: Int32) -> Int32 {
  FileName.with(name) { CLibc.clibc_open_in(folder, $0, flags) }
}

/// openat(2) of a new file for the owner alone, closed on exec.
public func clibc_create_in(_ folder: Int32, _ name: String) -> Int32 {
  FileName.with(name) { CLibc.clibc_create_in(folder, $0) }
}

/// open(2) of a folder, to make and to rename files in it.
public func clibc_open_folder(_ name: String) -> Int32 {
  FileName.with(name) { CLibc.clibc_open_folder($0) }
}

/// fstatat(2).
public func fstatat(
  _ folder: Int32, _ name: String, _ status: UnsafeMutablePointer<stat>, _ flags: Int32
) -> Int32 {
  FileName.with(name) { CLibc.fstatat(folder, $0, status, flags) }
}

/// renameat(2).
public func renameat(_ folder: Int32, _ name: String, _ other: Int32, _ new: String) -> Int32 {
  FileName.with(name) { name in
    FileName.with(new) { CLibc.renameat(folder, name, other, $0) }
  }
}

/// linkat(2).
public func linkat(_ folder: Int32, _ name: String, _ other: Int32, _ new: String) -> Int32 {
  FileName.with(name) { name in
    FileName.with(new) { CLibc.linkat(folder, name, other, $0, 0) }
  }
}

/// rmdir(2).
@discardableResult
public func rmdir(_ name: String) -> Int32 { FileName.with(name) { CLibc.rmdir($0) } }

/// unlink(2).
@discardableResult
public func unlink(_ name: String) -> Int32 { FileName.with(name) { CLibc.unlink($0) } }

/// unlinkat(2).
@discardableResult
public func unlinkat(_ folder: Int32, _ name: String, _ flags: Int32) -> Int32 {
  FileName.with(name) { CLibc.unlinkat(folder, $0, flags) }
}

/// mkstemp(3): a new file whose name begins like another's.
///
/// - Returns: the descriptor, below 0 with errno, and the name.
public func temporaryFile(beside name: String) -> (descriptor: Int32, name: String) {
  temporary(name, make: mkstemp)
}

/// mkdtemp(3): a new folder whose name begins like another's; nil with errno.
public func temporaryFolder(beside name: String) -> String? {
  let (made, folder) = temporary(name) { mkdtemp($0) == nil ? -1 : 0 }
  return made < 0 ? nil : folder
}

private func temporary(
  _ name: String, make: (UnsafeMutablePointer<CChar>) -> Int32
) -> (Int32, String) {
  var template = FileName.bytes(name + ".XXXXXX").map { CChar(bitPattern: $0) } + [0]
  return template.withUnsafeMutableBufferPointer { bytes in
    let result = make(bytes.baseAddress!)
    return (result, FileName.text(bytes.baseAddress!))
  }
}

/// The folder we are in, nil with errno.
public func currentFolder() -> String? {
  guard let here = getcwd(nil, 0) else { return nil }
  defer { free(here) }
  return FileName.text(here)
}

extension stat {
  /// stat(2).
  ///
  /// - Returns: nil with errno.
  public init?(following name: String) {
    self.init()
    if fstatat(AT_FDCWD, name, &self, 0) != 0 { return nil }
  }

  /// lstat(2).
  ///
  /// - Returns: nil with errno.
  public init?(at name: String) {
    self.init()
    if lstat(name, &self) != 0 { return nil }
  }

  /// fstat(2).
  ///
  /// - Returns: nil with errno.
  public init?(of descriptor: Int32) {
    self.init()
    if fstat(descriptor, &self) != 0 { return nil }
  }

  /// Whether this is a regular file.
  public var isRegular: Bool { st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) }
  /// Whether this is a pipe, with a name or without.
  public var isPipe: Bool { st_mode & mode_t(S_IFMT) == mode_t(S_IFIFO) }
  /// Whether this is a folder.
  public var isFolder: Bool { st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR) }
  /// Whether this is a symbolic link.
  public var isLink: Bool { st_mode & mode_t(S_IFMT) == mode_t(S_IFLNK) }
}

/// Writes all of some bytes to a file; the error number, 0 when that is done.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
  do throws(WriteFailure) {
    try bytes.withUnsafeBufferPointer { bytes throws(WriteFailure) in
      try writeAll(UnsafeRawBufferPointer(bytes), to: descriptor)
    }
    return 0
  } catch {
    return error.code
  }
}

/// Reads bytes from a place of a file; the error number, 0 when all are there, -1 where it ends before.
public func readAll(
  from descriptor: Int32, at place: Int, into room: UnsafeMutableRawBufferPointer
) -> Int32 {
  var done = 0
  while done < room.count {
    let count = pread(descriptor, room.baseAddress! + done, room.count - done, off_t(place + done))
    if count < 0, systemError == EINTR { continue }
    if count <= 0 { return count == 0 ? -1 : systemError }
    done += count
  }
  return 0
}
