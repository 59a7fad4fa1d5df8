import CLibc
public import Core

/// The key that is made for the user on the first connection: the private half never
/// leaves this machine, the public half is what `--authorize` shows.
public enum OwnKey {
  /// Where it is.
  public static func path(in folder: String) -> String { folder + "/id_ed25519" }

  /// Makes the key unless there is one. Two that come at once end with the same key.
  ///
  /// - Throws: `Failure`; `denied` when others can read it.
  public static func ensure(in folder: String) throws(Failure) -> String {
    let path = path(in: folder)
    if access(path, F_OK) != 0 {
      try FileLock.hold(beside: path) { () throws(Failure) in
        if access(path, F_OK) != 0 { try make(path, in: folder) }
      }
    }
    try check(path)
    return path
  }

  /// Refuses a private key as ssh(1) does: when others than its owner can read it.
  ///
  /// - Throws: `Failure`, `denied` for that.
  public static func check(_ path: String) throws(Failure) {
    guard let status = stat(following: path) else { throw Failure(code: systemError, place: path) }
    if status.isFolder { throw Failure(path, "a folder") }
    if status.st_uid == getuid(), status.st_mode & 0o077 != 0 {
      throw Failure(path, "refused: not for its owner alone (chmod 600)", .denied)
    }
  }

  /// The public half of a key: a line for authorized_keys.
  ///
  /// - Parameter path: the private half's file; the public one is beside it, or is made
  ///   of it, for which its passphrase may be asked.
  public static func publicLine(of path: String) throws(Failure) -> String {
    let beside = path.hasSuffix(".pub") ? path : path + ".pub"
    var bytes = try StateFile(path: beside).read()
    if bytes == nil {
      bytes = try keygen(["-y", "-f", path])
      if bytes == nil { throw Failure(path, "ssh-keygen finds no key in it") }
    }
    guard let (key, comment) = HostKey.publicLine(bytes ?? []) else {
      throw Failure(beside, "not a public key")
    }
    // Of the comment only what is plain in a shell's quotes.
    let plain = comment.unicodeScalars.allSatisfy { !Visible.mustEscape($0) && $0 != "'" }
    return plain && !comment.isEmpty ? "\(key.text) \(comment)" : key.text
  }

  /// Made aside, brought to disk, and only then called by its name.
  private static func make(_ path: String, in folder: String) throws(Failure) {
    guard let aside = temporaryFolder(beside: folder + "/key") else {
      throw Failure(code: systemError, place: folder)
    }
    let new = aside + "/key"
    defer {
      for name in [new, new + ".pub"] { unlink(name) }
      rmdir(aside)
    }
    let made = try keygen([
      "-q", "-t", "ed25519", "-N", "", "-C", "agentutils@\(hostName)", "-f", new,
    ])
    guard made != nil else { throw Failure(path, "ssh-keygen made no key") }
    // The public half first: the private one says that all is done.
    for half in [".pub", ""] {
      let descriptor = clibc_open(new + half, O_RDONLY)
      guard descriptor >= 0 else { throw Failure(new + half, systemReason(systemError)) }
      _ = fsync(descriptor)
      close(descriptor)
      guard rename(new + half, path + half) == 0 else {
        throw Failure(path + half, systemReason(systemError))
      }
    }
  }

  private static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
    let text = String(
      decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.prefix { $0 != "." }.isEmpty ? "localhost" : String(text.prefix { $0 != "." })
  }

  /// What ssh-keygen(1) prints, which knows every form in which keys are kept; nil when it fails.
  private static func keygen(_ words: [String]) throws(Failure) -> [UInt8]? {
    let run = CommandRun(
      ["ssh-keygen"] + words, limit: 1 << 20, timeout: .infinity, mayAskPerson: true)
    do throws(CommandRun.Failure) {
      return try run.output()
    } catch .broken(let words) {
      throw Failure(words)
    } catch {
      return nil
    }
  }
}
