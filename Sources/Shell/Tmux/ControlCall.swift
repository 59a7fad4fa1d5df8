import CLibc
import Core

/// One call of the host over a link that is ready: gives a script to `sh` behind the
/// login shell and takes its answer. The owner drives the link, and this behind it:
///
///     link.advance(set, now); call.advance(now)
///
/// Many calls may go over one link, one after the other or side by side.
public final class ControlCall {
  /// How it stands.
  public enum State {
    case running
    case answered(ControlAnswer)
    case failed(HostFailure)
  }

  /// How it stands.
  public private(set) var state = State.running
  /// How many bytes of the input have left for the host.
  public private(set) var sent = 0
  /// When it fails unless something happens.
  public private(set) var deadline: Double

  /// Bytes that may be on the way behind what we see: windows, queues, buffers.
  private static let window = 4 << 20
  /// Bytes in a second.
  private static let poorPace = 32768.0
  /// Bytes of a file that are read at once.
  private static let piece = 256 << 10

  private let input: ControlRequest.Input
  private let maxTime: Double
  private let channel: any Channel
  private var frame: ControlFrame
  private var errors: [UInt8] = []
  /// What came before the script began, the end of it.
  private var talk: [UInt8] = []
  /// What is on its way between a channel and us.
  private var buffer: [UInt8]
  private var isInputOver = false
  private var wasDrained = false
  /// The input file as it was in the beginning.
  private let version: FileVersion?

  /// Calls the host.
  ///
  /// - Parameters:
  ///   - link: ready.
  ///   - nonce: letters and digits that nobody can guess, others each time.
  ///   - maxTime: seconds without the answer, or without input that goes out.
  public init(
    _ request: ControlRequest, over link: any Link, nonce: String, maxTime: Double, now: Double
  ) {
    input = request.input
    self.maxTime = maxTime
    deadline = now + maxTime
    version = if case .file(let descriptor, _) = input { FileVersion(descriptor) } else { nil }
    buffer = [UInt8](repeating: 0, count: version == nil ? 64 << 10 : Self.piece + 4096)
    frame = ControlFrame(nonce: nonce)
    channel = link.run(request.command(nonce: nonce))
    if input.size == 0 {
      isInputOver = true
      channel.finishWriting()
    }
  }

  /// Goes on as far as it can.
  public func advance(now: Double) {
    guard case .running = state else { return }
    // What has come is taken before anything is said about the end.
    takeErrors()
    takeOutput()
    if let answer = frame.answer {
      finish(.answered(answer))
    } else if frame.isTooLong {
      fail(.unfit(why: "the host's answer is too long"))
    } else if let ending = channel.ending {
      fail(failure(ending))
    } else {
      // Nothing is given to a login shell that never gets to the script.
      if frame.hasBegun { give(now) }
      if case .running = state, now >= deadline {
        fail(.late(seconds: maxTime, part: frame.part))
      }
    }
  }

  /// Gives it up.
  public func cancel() {
    if case .running = state { fail(.closed) }
  }

  private func fail(_ failure: HostFailure) { finish(.failed(failure)) }

  private func finish(_ state: State) {
    self.state = state
    buffer = []
    channel.close()
  }

  private func failure(_ ending: Ending) -> HostFailure {
    switch ending {
    // A signal may be the host going down; that there is no room for a process passes.
    case .remoteExit where !frame.hasBegun && !lastWords(ending).holds("temporarily"):
      .noShell(says: lastWords(ending))
    case .remoteExit, .remoteSignal: .cutShort(says: lastWords(ending), part: frame.part)
    case .failed(.linkLost), .failed(.silent): .cutShort(says: ending.reason, part: frame.part)
    case .failed(.closed) where frame.hasBegun:
      .cutShort(says: ending.reason, part: frame.part)
    case .failed(let failure): failure
    }
  }

  private func lastWords(_ ending: Ending) -> String {
    Self.lastLine(errors) ?? (frame.hasBegun ? nil : Self.lastLine(talk)) ?? ending.reason
  }

  private static func lastLine(_ bytes: [UInt8]) -> String? {
    String(decoding: bytes, as: UTF8.self).split { $0.isNewline }.last.map {
      String($0.prefix(200))
    }
  }

  private func takeOutput() {
    while frame.answer == nil, !frame.isTooLong {
      let count = channel.read(&buffer, atMost: buffer.count)
      if count <= 0 { break }
      if !frame.hasBegun { talk = Array((talk + buffer[..<count]).suffix(1024)) }
      frame.take(buffer[..<count])
    }
  }

  private func takeErrors() {
    while true {
      let count = channel.readError(&buffer, atMost: 4096)
      if count <= 0 { break }
      errors += buffer[..<count]
      if errors.count > 8192 { errors.removeFirst(errors.count - 4096) }
    }
  }

  private func give(_ now: Double) {
    if isInputOver {
      if !wasDrained, channel.isDrained {
        wasDrained = true
        // What is still on the way is not known: a window full, at the pace of a poor
        // line. One that is dead is noticed by the link.
        deadline = now + maxTime + Double(min(sent, Self.window)) / Self.poorPace
      }
      return
    }
    let before = sent
    switch input {
    case .none: break
    case .bytes(let bytes):
      while sent < bytes.count {
        let count = channel.write(bytes[sent...])
        if count <= 0 { break }
        sent += count
      }
    case .file(let descriptor, let size): give(file: descriptor, size: size)
    }
    if sent > before { deadline = now + maxTime }
    if sent == input.size {
      isInputOver = true
      channel.finishWriting()
    }
  }

  /// Never reads more of the file than there is room for.
  private func give(file descriptor: Int32, size: Int) {
    while sent < size {
      let room = min(channel.room, Self.piece, size - sent)
      guard room > 0 else { return }
      // The kernel copies several times slower to where no page begins.
      var start = 0
      let count = buffer.withUnsafeMutableBytes { buffer in
        start = -Int(bitPattern: buffer.baseAddress) & 4095
        return pread(descriptor, buffer.baseAddress! + start, room, off_t(sent))
      }
      if count < 0 && systemError == EINTR { continue }
      guard count > 0 else {
        fail(.unfit(why: count < 0 ? systemReason(systemError) : "the file became shorter"))
        return
      }
      // Without its last byte the file is not taken at the other end.
      if sent + count == size, FileVersion(descriptor) != version {
        fail(.unfit(why: "the file changed while it was sent"))
        return
      }
      let taken = channel.write(buffer[start..<start + count])
      guard taken > 0 else { return }
      sent += taken
    }
  }
}
