import CCrypto
import CLibc
import Core
import Web

/// The digests of what was sent to a gateway in the last two minutes, and when. A gateway drops
/// the same words in silence for so long (CONTRACT.md 4).
struct PromptBook {
  private let file: StateFile
  private let lockPath: String

  private struct Entry {
    let time: Double
    let digest: String
  }

  /// How long the same words are dropped, seconds.
  static let memory = 120.0

  /// Stands for a digest where a prompt was sent that was not seen to begin.
  private static let open = "open"

  init(of address: WebAddress, in folders: Folders = Folders()) throws(Failure) {
    let folder = Folders.join(folders.state, "joelclaw")
    try Folders.make(folder)
    let name = Self.digest(Self.name(of: address)).prefix(16)
    file = StateFile(path: Folders.join(folder, "prompts-" + name))
    lockPath = Folders.join(folder, "lock-" + name)
  }

  static func name(of address: WebAddress) -> String {
    var host = address.host[...]
    if host.hasSuffix(".") { host = host.dropLast() }
    if host == "[::1]" || host.hasPrefix("127.") || host.hasPrefix("[::ffff:127.") {
      host = "localhost"
    }
    return "\(host):\(address.port)"
  }

  /// The right to have a prompt in flight: two processes destroy each other's (CONTRACT.md 4).
  func turn() throws(Failure) -> PromptLock? {
    let lock = PromptLock(try OwnPath.append(lockPath))
    return clibc_lock(lock.descriptor) == 0 ? lock : nil
  }

  /// Whether a prompt was sent and nobody saw it begin: it may wait in the gateway.
  func isOpen(now: Double) throws(Failure) -> Bool {
    try entries(now).contains { $0.digest == Self.open }
  }

  func close(now: Double) throws(Failure) {
    try write(try entries(now).filter { $0.digest != Self.open })
  }

  /// How long ago the same words (white space aside) were sent, seconds; nil: forgotten.
  func age(of text: String, now: Double) throws(Failure) -> Double? {
    let digest = Self.digest(text)
    return try entries(now).filter { $0.digest == digest }.map { max(now - $0.time, 0) }.min()
  }

  func add(_ text: String, now: Double) throws(Failure) {
    let others = try entries(now).filter { $0.digest != Self.open }
    try write(others + [Self.digest(text), Self.open].map { Entry(time: now, digest: $0) })
  }

  private func write(_ entries: [Entry]) throws(Failure) {
    let lines = entries.map { "\(Int64($0.time * 1000)) \($0.digest)\n" }
    try file.replace(with: Array(lines.joined().utf8))
  }

  /// The text with a mark that makes other words of it.
  func marked(_ text: String, now: Double) throws(Failure) -> String {
    var number = 1
    while true {
      let other = text + (number == 1 ? " (again)" : " (again \(number))")
      if try age(of: other, now: now) == nil { return other }
      number += 1
    }
  }

  private func entries(_ now: Double) throws(Failure) -> [Entry] {
    let text = String(decoding: try file.read() ?? [], as: UTF8.self)
    return text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 2, let time = Int64(words[0]).map({ Double($0) / 1000 }) else {
        return nil
      }
      // The clock may have been set back.
      let age = now - time
      return abs(age) < Self.memory ? Entry(time: time, digest: String(words[1])) : nil
    }
  }

  private static func digest(_ text: String) -> String {
    let folded = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let bytes = Array(folded.utf8)
    var digest = [UInt8](repeating: 0, count: 32)
    SHA256(bytes, bytes.count, &digest)
    return digest.hex
  }
}

final class PromptLock {
  fileprivate let descriptor: Int32

  fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }
}
