import CLibc
import Core

/// Whether libssh2 can sign in with a key file.
enum KeyFitness {
  /// Looks at what a file shows without its passphrase, and at what lies beside it.
  ///
  /// - Returns: why OpenSSH is needed for it; nil when libssh2 will do, or when the file
  ///   cannot be read at all.
  static func problem(_ path: String) -> String? {
    if access(path + "-cert.pub", F_OK) == 0 { return "a certificate lies beside the key" }
    guard let file = try? PrivateKeyFile(path: path) else { return nil }
    guard let type = file.publicKey?.type ?? typeBeside(path) else {
      return "the key is not in OpenSSH's form"
    }
    return SSH2Algorithms.userKeys.contains(type)
      ? nil : "the key is of the type \(HostKey.kind(of: type))"
  }

  private static func typeBeside(_ path: String) -> String? {
    guard let bytes = try? StateFile(path: path + ".pub").read(limit: 65536) else { return nil }
    let words = bytes.prefix { $0 != 10 && $0 != 13 }.split(separator: 0x20, maxSplits: 2)
    guard words.count > 1 else { return nil }
    return HostKey(type: String(decoding: words[0], as: UTF8.self), base64: words[1])?.type
  }
}
