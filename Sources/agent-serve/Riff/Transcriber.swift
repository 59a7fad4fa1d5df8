import CLibc
import Core

/// What a command made of a clip or a text.
enum CommandMade<Product: Sendable>: Sendable {
  case done(Product)
  case failed(String)
  case busy
}

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
    let result: CommandQueue.Result?
    do throws(Failure) {
      result = try await queue.run(
        { () throws(Failure) in
          CommandProcess(
            command, arguments: [try scratch.write(clip)], seconds: Self.seconds,
            limit: Self.mostOfText)
        }, tidy: { scratch.remove() })
    } catch {
      return .failed(error.message)
    }
    guard let result else { return .busy }
    if let reason = result.ending.complaint { return .failed(reason) }
    let text = String(decoding: result.output, as: UTF8.self)
    // A recogniser breaks lines where it likes; a person said one thing.
    return .done(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
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
    let writer = RecordWriter(descriptor: file)
    do throws(WriteFailure) {
      try writer.write(clip)
      try writer.flush()
    } catch {
      throw Failure(path, systemReason(error.code))
    }
    return path
  }

  func remove() {
    guard let folder else { return }
    unlink("\(folder)/\(name)")
    rmdir(folder)
  }
}
