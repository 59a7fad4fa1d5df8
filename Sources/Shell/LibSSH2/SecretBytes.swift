import CLibc

/// Bytes that nobody else may see: kept in one place, and overwritten when they go.
final class SecretBytes {
  /// How many there are.
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

  /// The bytes.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Overwrites them now.
  func wipe() { clibc_wipe(base, count) }
}

/// The passphrases that were right, for the links that this process makes next:
/// nobody types one again because the network broke. Gone with the process.
enum PassphraseStore {
  // Only the thread of the loop comes here.
  nonisolated(unsafe) private static var known: [String: SecretBytes] = [:]
  private static let wipesAtExit: Bool = {
    atexit { PassphraseStore.wipe() }
    return true
  }()

  /// The passphrase of a key's file, if it has been given before.
  static func passphrase(of path: String) -> SecretBytes? { known[path] }

  /// Keeps one that was right.
  static func keep(_ passphrase: SecretBytes, for path: String) {
    if wipesAtExit { known[path] = passphrase }
  }

  /// Forgets one, which is right no more.
  static func forget(_ path: String) { known[path] = nil }

  private static func wipe() { for secret in known.values { secret.wipe() } }
}
