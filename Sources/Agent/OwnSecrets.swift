import CCrypto
import CLibc
import Core

/// The SHA-256 of some bytes.
func sha256(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
  var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
  ccrypto_sha256(bytes.baseAddress, bytes.count, &digest)
  return digest
}

func sha256(_ bytes: some Sequence<UInt8>) -> [UInt8] {
  Array(bytes).withUnsafeBytes { sha256($0) }
}

/// The name of this machine; empty where it has none.
var hostName: String {
  var name = [CChar](repeating: 0, count: 256)
  guard gethostname(&name, name.count - 1) == 0 else { return "" }
  return FileName.text(name.withUnsafeBufferPointer { $0.baseAddress! })
}

extension StateFile {
  /// What a file with secrets holds; nil when there is none. One that others can read is refused.
  func readSecrets(limit: Int = 1 << 20) throws(Failure) -> [UInt8]? {
    let bytes = try read(limit: limit)
    if bytes?.isEmpty == false, let status = stat(following: path), status.st_mode & 0o077 != 0 {
      throw Failure(path, "refused: not for its owner alone (chmod 600)", .denied)
    }
    return bytes
  }

  /// What stands for a server or an account in the name of a file.
  static func name(of text: String) -> String {
    String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "-" })
  }
}
