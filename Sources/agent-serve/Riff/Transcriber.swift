import CLibc
import Core

struct Transcriber: Sendable {
  static let seconds = 120.0
  /// More is no speech, bytes.
  private static let mostOfText = 1 << 20

  private let command: String
  private let queue = CommandQueue(limit: 2, waitLimit: 8)

  init(_ command: String) { self.command = command }

  /// What was said, as one line; empty for nothing.
  func hear(_ clip: [UInt8], format: String?) async -> CommandMade<String> {
    let scratch = ScratchClip(format: format)
    let made = await queue.run(
      tidy: { scratch.remove() },
      { () throws(Failure) in
        CommandProcess(
          command, arguments: [try scratch.write(clip)], seconds: Self.seconds,
          limit: Self.mostOfText)
      })
    switch made {
    case .done(let output):
      // A recogniser breaks lines where it likes; a person said one thing.
      let words = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      return .done(words.joined(separator: " "))
    case .failed(let reason): return .failed(reason)
    case .busy: return .busy
    }
  }

  func stop() async { await queue.stop() }
}

/// A clip in a file that nobody else can read, for a command that takes files.
private final class ScratchClip: @unchecked Sendable {
  private let name: String
  /// Written and read in its turn alone.
  private var folder: String?

  init(format: String?) {
    let word = (format ?? "").lowercased()
    let isWord =
      (1...8).contains(word.utf8.count)
      && word.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) }
    name = isWord ? "clip.\(word)" : "clip"
  }

  func write(_ clip: [UInt8]) throws(Failure) -> String {
    let parent = Process.environment("TMPDIR") ?? "/tmp"
    guard let made = temporaryFolder(beside: "\(parent)/clip") else {
      throw Failure(parent, systemReason(systemError))
    }
    folder = made
    let path = "\(made)/\(name)"
    let place = clibc_open_folder(made)
    defer { close(place) }
    let file = clibc_create_in(place, name)
    guard file >= 0 else { throw Failure(path, systemReason(systemError)) }
    defer { close(file) }
    try RecordWriter.write(clip, to: file, of: path)
    return path
  }

  func remove() {
    guard let folder else { return }
    unlink("\(folder)/\(name)")
    rmdir(folder)
  }
}
