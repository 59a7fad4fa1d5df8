import CLibc
import Core

struct PrivateKeyFile {
  let path: String
  let content: SecretBytes
  let isEncrypted: Bool
  /// The public half, where the form has it in the clear (OpenSSH's has).
  let publicKey: HostKey?

  private static let limit = 64 << 10

  init(path: String) throws(Failure) {
    let descriptor = clibc_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw Failure(code: systemError, place: path) }
    defer { close(descriptor) }
    guard let status = stat(of: descriptor), status.isRegular else {
      throw Failure(path, "not a file")
    }
    // As OpenSSH: what belongs to somebody else is that one's to guard.
    if status.st_uid == getuid(), status.st_mode & 0o077 != 0 {
      throw Failure(path, "others can read it (chmod 600 makes it usable)", .denied)
    }
    var bytes = [UInt8](repeating: 0, count: Self.limit)
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes {
        read(descriptor, $0.baseAddress! + count, $0.count - count)
      }
      if got < 0 && systemError == EINTR { continue }
      guard got >= 0 else { throw Failure(path, systemReason(systemError)) }
      if got == 0 { break }
      count += got
    }
    bytes.removeLast(bytes.count - count)
    try self.init(path: path, bytes: &bytes)
  }

  /// Reads the content of a file, which is overwritten.
  init(path: String, bytes: inout [UInt8]) throws(Failure) {
    self.path = path
    guard let (label, body) = Self.armour(bytes[...]) else {
      bytes.withUnsafeMutableBytes { clibc_wipe($0.baseAddress, $0.count) }
      throw Failure(path, "not a private key")
    }
    if label == "OPENSSH PRIVATE KEY" {
      guard let (cipher, key) = Self.openSSH(body) else {
        bytes.withUnsafeMutableBytes { clibc_wipe($0.baseAddress, $0.count) }
        throw Failure(path, "damaged private key")
      }
      isEncrypted = cipher != "none"
      publicKey = key
    } else {
      // PEM: PKCS #8 says it in the label, the older form in a header.
      isEncrypted =
        label.hasPrefix("ENCRYPTED") || body.starts(with: Array("Proc-Type: 4,ENCRYPTED".utf8))
      publicKey = nil
    }
    // libssh2 wants the last line whole.
    if bytes.last != 10 { bytes.append(10) }
    content = SecretBytes(&bytes)
  }

  /// The label of `-----BEGIN label-----`, and the lines behind it.
  private static func armour(_ bytes: ArraySlice<UInt8>) -> (String, ArraySlice<UInt8>)? {
    let begin = Array("-----BEGIN ".utf8)
    let dashes = Array("-----".utf8)
    var rest = bytes
    while !rest.isEmpty {
      let line = rest.prefix { $0 != 10 && $0 != 13 }
      rest = rest[line.endIndex...].drop { $0 == 10 || $0 == 13 }
      guard line.starts(with: begin), line.suffix(5).elementsEqual(dashes) else { continue }
      let label = String(decoding: line.dropFirst(begin.count).dropLast(5), as: UTF8.self)
      return label.hasSuffix("PRIVATE KEY") ? (label, rest) : nil
    }
    return nil
  }

  /// The cipher and the public key of OpenSSH's form (PROTOCOL.key).
  private static func openSSH(_ body: ArraySlice<UInt8>) -> (String, HostKey)? {
    var text: [UInt8] = []
    for byte in body where byte > 0x20 {
      if byte == UInt8(ascii: "-") { break }
      text.append(byte)
    }
    defer { text.withUnsafeMutableBytes { clibc_wipe($0.baseAddress, $0.count) } }
    let magic = Array("openssh-key-v1\0".utf8)
    guard var blob = Base64.bytes(text), blob.starts(with: magic) else { return nil }
    defer { blob.withUnsafeMutableBytes { clibc_wipe($0.baseAddress, $0.count) } }
    var reader = WireReader(blob[magic.count...])
    // Cipher, key derivation and its options, and how many keys there are: one.
    guard let cipher = reader.text(), reader.text() != nil, reader.string() != nil,
      reader.word() == 1, let half = reader.string(), let key = HostKey(blob: Array(half))
    else { return nil }
    return (cipher, key)
  }
}

/// Bytes that nobody else may see: kept in one place, and overwritten when they go.
final class SecretBytes {
  let count: Int
  private let base: UnsafeMutablePointer<CChar>

  /// Takes a copy, and overwrites the bytes it is given.
  init(_ bytes: inout [UInt8]) {
    count = bytes.count
    base = .allocate(capacity: bytes.count + 1)
    for index in bytes.indices { base[index] = CChar(bitPattern: bytes[index]) }
    base[count] = 0
    bytes.withUnsafeMutableBytes { clibc_wipe($0.baseAddress, $0.count) }
    bytes = []
  }

  deinit {
    wipe()
    base.deallocate()
  }

  /// The bytes with a zero behind them, as C wants them.
  var text: UnsafePointer<CChar> { UnsafePointer(base) }

  func wipe() { clibc_wipe(base, count) }
}

/// The passphrases that were right, for the links that this process makes next:
/// nobody types one again because the network broke. Gone with the process.
enum PassphraseStore {
  // Only the thread of the loop comes here.
  nonisolated(unsafe) private static var known: [String: SecretBytes] = [:]
  private static let wipesAtExit: Bool = {
    clibc_at_exit { PassphraseStore.wipe() }
    return true
  }()

  static func passphrase(of path: String) -> SecretBytes? { known[path] }

  static func keep(_ passphrase: SecretBytes, for path: String) {
    if wipesAtExit { known[path] = passphrase }
  }

  static func forget(_ path: String) { known[path] = nil }

  private static func wipe() { for secret in known.values { secret.wipe() } }
}
