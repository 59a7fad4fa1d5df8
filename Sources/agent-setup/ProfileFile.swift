import CLibc
import Core
import Kinds

struct ProfileFile {
  let folder: String
  /// The file itself, where a link leads to it.
  let path: String
  private let mode: mode_t?
  private let lines: [ArraySlice<UInt8>]

  init() throws(Failure) {
    if Process.environment("HOME") == nil,
      Process.environment("XDG_CONFIG_HOME")?.hasPrefix("/") != true
    {
      throw Failure("HOME is not set", "there is no place for a profile")
    }
    let folders = Folders()
    folder = folders.config
    path = try OwnPath.resolve(folders.configFile)
    var status = stat()
    mode = stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    // What others wrote must not be taken over into a file that the commands trust.
    if let mode, mode & 0o022 != 0 || ![0, geteuid()].contains(status.st_uid) {
      throw Failure(
        path, "refused: others own it or can write to it: look through it, then chmod go-w or chown"
      )
    }
    var bytes = mode == nil ? [] : try BoundedFile.given(path)
    if bytes.last == 10 { bytes.removeLast() }
    lines = bytes.isEmpty ? [] : bytes.split(separator: 10, omittingEmptySubsequences: false)
  }

  private var said: [(line: ArraySlice<UInt8>, profile: String, what: ConfigurationLine)] {
    var profile = ""
    return lines.enumerated().map { index, line in
      let isMarked = index == 0 && line.starts(with: [0xef, 0xbb, 0xbf])
      let what = ConfigurationLine(isMarked ? line.dropFirst(3) : line)
      if case .heading(let kind, let name) = what { profile = kind == "profile" ? name : "" }
      return (line, profile, what)
    }
  }

  func has(_ profile: String) -> Bool { said.contains { $0.profile == profile } }

  func has(section kind: String, _ name: String) -> Bool {
    said.contains { $0.what == .heading(kind: kind, name: name) }
  }

  func profiles(of kind: KindFacts) -> [String] {
    said.filter { $0.what == .setting(key: "kind", value: kind.name) }.map(\.profile)
      .filter { !$0.isEmpty && Self.isName($0) }
  }

  func value(of key: String, in profile: String) -> String? {
    var last: String?
    for line in said where line.profile == profile {
      if case .setting(key, let value) = line.what { last = value }
    }
    return last
  }

  static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0.isOfName || $0 == UInt8(ascii: ".") }
  }

  /// Puts settings in the place of what the profile says about its kind, its URL, its certificate
  /// and its token, which goes by two names, and of `key`.
  func write(_ profile: String, _ settings: [String], replacing key: String?) throws(Failure) {
    let old =
      AgentPlace.Sort.allCases.map(\.rawValue)
      + ["kind", "tls-fingerprint", "token-command", "token-file", "secret-command", "secret-file"]
      + [key]
    var text: [[UInt8]] = []
    var isDone = false
    for (line, owner, what) in said {
      switch what {
      case .setting(let name, _) where owner == profile && old.contains(name): break
      default: text.append(Array(line))
      }
      if case .heading = what, owner == profile, !isDone {
        text += settings.map { Array($0.utf8) }
        isDone = true
      }
    }
    if !isDone {
      if !text.isEmpty { text.append([]) }
      text += ["[profile \(profile)]"].map { Array($0.utf8) } + settings.map { Array($0.utf8) }
    }
    try replace(with: text)
  }

  /// Puts sections below what is there.
  func add(_ sections: [[String]]) throws(Failure) {
    var text = lines.map(Array.init)
    for section in sections {
      if !text.isEmpty { text.append([]) }
      text += section.map { Array($0.utf8) }
    }
    try replace(with: text)
  }

  private func replace(with text: [[UInt8]]) throws(Failure) {
    try Folders.make(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
    try StateFile(path: path).replace(with: text.flatMap { $0 + [10] })
    if let mode { chmod(path, mode) }
  }

  /// Makes sure that the file can be written, before anything is done that cannot be undone.
  func check() throws(Failure) {
    for folder in [String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]), folder] {
      try Folders.make(folder)
      if FileName.with(folder, { access($0, W_OK) }) != 0 {
        throw Failure(folder, systemReason(systemError), .failure)
      }
    }
  }

  /// Keeps a token in a file for the owner alone; false where that cannot be.
  func keep(_ token: [UInt8], as name: String) throws(Failure) -> Bool {
    try Folders.make(folder)
    let descriptor = clibc_open_folder(folder)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return FolderFile.replace(name, in: descriptor, with: token + [10]) == 0
  }
}
