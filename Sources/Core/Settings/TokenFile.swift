import CLibc

/// A token in a file.
public enum TokenFile {
  /// The longest token file or output of a token command, bytes.
  static let limit = 64 * 1024

  enum Trust {
    /// A person's or the environment's path: also a pipe, as `<(pass ...)` and
    /// `/dev/stdin` are; `-` is standard input.
    case given
    /// A path of the configuration: a regular file.
    case configured
    /// The service manager's: systemd grants its user access by an access
    /// list, which shows as a bit for the group.
    case granted
  }

  /// Reads a token. Returns nil when the file does not exist.
  static func read(_ path: String, trust: Trust) throws(Failure) -> Secret? {
    try bytes(path, trust: trust).map { bytes throws(Failure) in
      try Secret(bytes: bytes, source: path)
    }
  }

  /// Reads a text of several lines. Returns nil when the file does not exist.
  static func lines(_ path: String) throws(Failure) -> Secret? {
    guard let bytes = try bytes(path, trust: .configured) else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(path, "not UTF-8")
    }
    return Secret(text, source: path)
  }

  private static func bytes(_ path: String, trust: Trust) throws(Failure) -> [UInt8]? {
    guard let bytes = try checked(path, trust: trust) else { return nil }
    return try ForeignText.text(bytes, of: path)
  }

  /// The bytes of a file that a person names; `-` is standard input.
  ///
  /// - Returns: nil when the file does not exist.
  public static func given(_ path: String) throws(Failure) -> [UInt8]? {
    try checked(path, trust: .given)
  }

  private static func checked(_ path: String, trust: Trust) throws(Failure) -> [UInt8]? {
    let isInput = trust == .given && path == "-"
    let opened = isInput ? 0 : try BoundedFile.open(path, waiting: trust == .given)
    guard let descriptor = opened else { return nil }
    defer { if !isInput { close(descriptor) } }
    guard let status = stat(of: descriptor),
      status.isRegular || trust == .given && !status.isFolder
    else { throw Failure(path, "not a regular file") }
    let bytes = try BoundedFile.bytes(of: descriptor, at: path, limit: limit)
    let others: mode_t = trust == .granted ? 0o007 : 0o077
    if status.isRegular && status.st_mode & others != 0 {
      throw Failure(path, "refused: not for its owner alone (chmod 600)", .denied)
    }
    return bytes
  }
}
