import CLibc

@testable import Core

/// A folder of its own for one test, removed when the test ends.
final class Scratch {
  let path: String

  init() {
    var template = Array("/tmp/agentutils-test.XXXXXX".utf8CString)
    _ = mkdtemp(&template)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { _ = Self.run("rm -rf '\(path)'") }

  /// The path of a name in the folder.
  func file(_ name: String) -> String { path + "/" + name }

  /// Writes a file, making the folders on the way.
  @discardableResult
  func write(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o600) -> String {
    let target = file(name)
    _ = Self.run("mkdir -p \"$(dirname '\(target)')\"")
    guard let stream = fopen(target, "w") else { return target }
    fwrite(bytes, 1, bytes.count, stream)
    fclose(stream)
    chmod(target, mode)
    return target
  }

  /// Writes text.
  @discardableResult
  func write(_ name: String, _ text: String, mode: mode_t = 0o600) -> String {
    write(name, Array(text.utf8), mode: mode)
  }

  /// Runs a shell command and gives its status.
  static func run(_ command: String) -> Int32 { system(command) }

  /// An environment whose XDG folders lie in the scratch folder.
  func environment(_ more: [String: String] = [:]) -> @Sendable (String) -> String? {
    let values = [
      "HOME": path, "XDG_CONFIG_HOME": path + "/config", "XDG_STATE_HOME": path + "/state",
    ].merging(more) { $1 }
    return { name in values[name].flatMap { $0.isEmpty ? nil : $0 } }
  }

  /// The settings of a configuration text.
  func settings(
    _ text: String? = nil, environment more: [String: String] = [:]
  ) throws(Failure) -> Settings {
    if let text { write("config/agentutils/config", text) }
    return try Settings(environment: environment(more))
  }
}
