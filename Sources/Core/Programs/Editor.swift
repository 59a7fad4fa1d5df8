import CLibc

/// A file in a person's own editor.
public struct Editor {
  /// Where it is.
  public let path: String

  /// Makes the file, for the user alone.
  ///
  /// - Parameter name: what it begins with, without a folder.
  public init(_ text: String, name: String) throws(Failure) {
    let folder = Process.environment("TMPDIR") ?? "/tmp"
    let descriptor: Int32
    (descriptor, path) = temporaryFile(beside: "\(folder)/\(name)")
    guard descriptor >= 0 else { throw Failure(path, systemReason(systemError), .failure) }
    close(descriptor)
    try StateFile(path: path).replace(with: Array(text.utf8))
  }

  /// The command for sh(1): `$VISUAL`, else `$EDITOR`.
  private static var named: String? {
    Process.environment("VISUAL") ?? Process.environment("EDITOR")
  }

  /// Whether the environment names an editor, which then needs no terminal.
  public static var isNamed: Bool { named != nil }

  /// Without a name in the environment the editor is vi.
  ///
  /// - Returns: what is in the file then.
  /// - Throws: `Failure` where the editor failed.
  public func edit() throws(Failure) -> [UInt8] {
    let command = Self.named ?? "vi"
    // What it prints is none of our records. system(3) leaves the keys that
    // interrupt to the editor while it runs.
    clibc_keep_others_private()
    let status = FileName.with("\(command) \(path.shellQuoted) >&2") { system($0) }
    guard status != -1 else { throw Failure("editor", systemReason(systemError), .failure) }
    if status != 0 {
      let signal = status & 0x7f
      let how = signal != 0 ? "ended by signal \(signal)" : "status \((status >> 8) & 0xff)"
      throw Failure("editor", "\(how); nothing was sent", .failure)
    }
    // What is edited away altogether is given up.
    return try StateFile(path: path).read() ?? []
  }

  /// Removes the file.
  public func remove() { unlink(path) }
}
