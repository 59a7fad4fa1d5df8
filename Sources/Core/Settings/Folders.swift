import CLibc

/// Where the suite keeps its configuration and its state, by the XDG Base
/// Directory Specification.
public struct Folders: Sendable, Equatable {
  /// The user's home: `$HOME`, else what the password database says, else `/`.
  public let home: String
  /// `$XDG_CONFIG_HOME/agentutils`, by default `~/.config/agentutils`.
  public let config: String
  /// `$XDG_STATE_HOME/agentutils`, by default `~/.local/state/agentutils`.
  public let state: String
  /// `$XDG_CACHE_HOME/agentutils`, by default `~/.cache/agentutils`.
  public let cache: String

  public init(environment: (String) -> String? = Process.environment) {
    let home = environment("HOME") ?? Self.passwordHome ?? "/"
    self.home = home
    /// A relative path is to be ignored, the specification says.
    func folder(_ name: String, _ fallback: String) -> String {
      let base = environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
      return Self.join(base ?? Self.join(home, fallback), "agentutils")
    }
    config = folder("XDG_CONFIG_HOME", ".config")
    state = folder("XDG_STATE_HOME", ".local/state")
    cache = folder("XDG_CACHE_HOME", ".cache")
  }

  /// The configuration file.
  public var configFile: String { Self.join(config, "config") }

  /// A path of the configuration file as a path of this machine: `~` is the
  /// home, and what is not absolute is in the configuration folder.
  public func expand(_ path: String) -> String {
    let whole = expandHome(path)
    return whole.hasPrefix("/") ? whole : Self.join(config, whole)
  }

  /// `~` and `~/...` with the home in front; any other path as it is.
  public func expandHome(_ path: String) -> String {
    if path == "~" { return home }
    if path.hasPrefix("~/") { return Self.join(home, String(path.dropFirst(2))) }
    return path
  }

  /// Makes the state folder, and what is missing above it, for the user alone.
  ///
  /// - Returns: the path of `name` in it.
  /// - Throws: `Failure` naming the folder that cannot be made.
  public func stateFile(_ name: String) throws(Failure) -> String {
    try Self.make(state)
    return Self.join(state, name)
  }

  /// A name in a folder.
  public static func join(_ folder: String, _ name: String) -> String {
    folder.hasSuffix("/") ? folder + name : folder + "/" + name
  }

  /// Makes a folder, and what is missing above it, for the user alone.
  ///
  /// - Throws: `Failure` naming what cannot be made, or is not a folder.
  public static func make(_ path: String) throws(Failure) {
    if let status = stat(following: path) {
      guard status.isFolder else { throw Failure(path, "not a folder") }
      return
    }
    if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      try make(String(path[..<slash]))
    }
    if mkdir(path, 0o700) != 0 && systemError != EEXIST {
      throw Failure(code: systemError, place: path)
    }
  }

  /// The user's home as the system has it, whatever HOME says; nil where nobody knows it.
  public static var passwordHome: String? {
    guard let entry = getpwuid(getuid()), let directory = entry.pointee.pw_dir else { return nil }
    let path = FileName.text(directory)
    return path.isEmpty ? nil : path
  }
}
