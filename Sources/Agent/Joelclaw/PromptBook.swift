import CCrypto
import CLibc
import Core

/// The digests of what was sent to gateways in the last two minutes, and when. A gateway drops
/// the same words in silence for so long (CONTRACT.md 4).
struct PromptBook {
  private let file: StateFile
  private let folder: String

  private struct Entry {
    let time: Double
    let digest: String
  }

  /// How long the same words are dropped, seconds.
  static let memory = 120.0

  /// - Throws: `SettingsError` when its folder cannot be made.
  init(in folders: Folders = Folders()) throws(SettingsError) {
    folder = Folders.join(folders.state, "joelclaw")
    try Folders.make(folder)
    file = StateFile(path: Folders.join(folder, "prompts"))
  }

  /// The right to have a prompt in flight, which one process has at a time: two of them
  /// destroy each other (CONTRACT.md 4).
  ///
  /// - Parameter place: the gateway's address.
  /// - Returns: nil while another process has it.
  /// - Throws: `SettingsError` when its file cannot be made.
  func turn(at place: String) throws(SettingsError) -> PromptLock? {
    let name = "lock-" + Self.digest("", place).prefix(16)
    let lock = PromptLock(try OwnPath.append(Folders.join(folder, name)))
    return clibc_flock(lock.descriptor) == 0 ? lock : nil
  }

  /// How long ago the same words were sent, seconds; nil where that is forgotten.
  ///
  /// - Parameters:
  ///   - text: white space does not count.
  ///   - place: the gateway's address.
  ///   - now: seconds since 1970.
  /// - Throws: `SettingsError` when the file cannot be read.
  func age(of text: String, at place: String, now: Double) throws(SettingsError) -> Double? {
    let digest = Self.digest(text, place)
    return try entries(now).filter { $0.digest == digest }.map { max(now - $0.time, 0) }.min()
  }

  /// Notes that a text is sent.
  ///
  /// - Throws: `SettingsError` when the file cannot be written.
  func add(_ text: String, at place: String, now: Double) throws(SettingsError) {
    let all = try entries(now) + [Entry(time: now, digest: Self.digest(text, place))]
    let lines = all.map { "\(Int64($0.time * 1000)) \($0.digest)\n" }
    try file.replace(with: Array(lines.joined().utf8))
  }

  /// The text with a mark that makes other words of it.
  ///
  /// - Throws: as `age`.
  func marked(_ text: String, at place: String, now: Double) throws(SettingsError) -> String {
    var number = 1
    while true {
      let other = text + (number == 1 ? " (again)" : " (again \(number))")
      if try age(of: other, at: place, now: now) == nil { return other }
      number += 1
    }
  }

  /// What is remembered; a line that makes no sense is left out.
  private func entries(_ now: Double) throws(SettingsError) -> [Entry] {
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

  private static func digest(_ text: String, _ place: String) -> String {
    let folded = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let bytes = Array((place + "\0" + folded).utf8)
    var digest = [UInt8](repeating: 0, count: 32)
    SHA256(bytes, bytes.count, &digest)
    return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// A lock that is held as long as this is kept.
final class PromptLock {
  fileprivate let descriptor: Int32

  fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }
}
