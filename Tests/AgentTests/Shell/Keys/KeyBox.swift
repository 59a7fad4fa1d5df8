import CLibc
import Core

@testable import Shell

/// A folder of its own for one test, with keys that ssh-keygen(1) made.
final class KeyBox {
  let path: String

  init() {
    var template = Array("/tmp/agentutils-test.XXXXXX".utf8CString)
    _ = mkdtemp(&template)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { _ = system("rm -rf '\(path)'") }

  func file(_ name: String) -> String { path + "/" + name }

  @discardableResult
  func write(_ name: String, _ bytes: [UInt8]) -> String {
    guard let stream = fopen(file(name), "w") else { fatalError(file(name)) }
    fwrite(bytes, 1, bytes.count, stream)
    fclose(stream)
    return file(name)
  }

  @discardableResult
  func write(_ name: String, _ text: String) -> String { write(name, Array(text.utf8)) }

  func read(_ name: String) -> String {
    String(decoding: (try? StateFile(path: file(name)).read()) ?? [], as: UTF8.self)
  }

  /// What a shell command prints, run in the folder; nil when it fails.
  func run(_ command: String) -> String? {
    guard system("cd '\(path)' && { \(command); } >run.out 2>run.err") == 0 else { return nil }
    return read("run.out")
  }

  /// A key of a kind: `ed25519`, `ecdsa`, `rsa -b 2048`.
  func key(_ kind: String = "ed25519", _ name: String = "key") -> HostKey {
    _ = run("rm -f \(name) \(name).pub; ssh-keygen -q -t \(kind) -N '' -f \(name)")
    let words = read(name + ".pub").utf8.split(separator: 0x20)
    guard words.count > 1,
      let key = HostKey(type: String(Substring(words[0])), base64: Array(words[1])[...])
    else { fatalError("ssh-keygen -t \(kind) made no key") }
    return key
  }

  /// A made-up key: enough where only the form matters.
  static func key(_ seed: UInt8) -> HostKey {
    let type = Array("ssh-ed25519".utf8)
    let blob = [0, 0, 0, 11] + type + [0, 0, 0, 32] + [UInt8](repeating: seed, count: 32)
    guard let key = HostKey(blob: blob) else { fatalError() }
    return key
  }
}
