import CLibc
import Core

/// Calls of a host, one after the other over one link, which is made with the first: each gives a
/// script to `sh` behind the login shell and waits for its answer.
public final class HostCalls {
  /// Seconds that one answer may take.
  public let maxTime: Double
  private let makeLink: (@escaping HostWait) throws(HostFailure) -> any Link
  private var link: (any Link)?
  private var set = PollSet()

  /// - Parameters:
  ///   - maxTime: seconds that one answer may take.
  ///   - link: makes the link.
  public init(
    maxTime: Double, link: @escaping (@escaping HostWait) throws(HostFailure) -> any Link
  ) {
    self.maxTime = maxTime
    makeLink = link
  }

  deinit { close() }

  /// Calls of the host of a request.
  public convenience init(_ request: LinkRequest, maxTime: Double) {
    self.init(maxTime: maxTime, link: request.link)
  }

  /// Whether there is a link.
  public var isOpen: Bool { link != nil }

  /// The link, which is made if there is none.
  ///
  /// - Throws: why it ended.
  @discardableResult
  public func connect() throws(HostFailure) -> any Link {
    let link = if let link { link } else { try makeLink(PollSet.wait) }
    self.link = link
    if let failure = link.ending { throw failure }
    return link
  }

  /// Gives the link up; the next call makes another one.
  public func close() {
    link?.close()
    link = nil
  }

  /// Calls the host and waits for the answer.
  ///
  /// - Parameters:
  ///   - more: seconds that the script itself may wait.
  ///   - progress: told how many bytes of the input have gone out.
  public func call(
    _ request: ControlRequest, more: Double = 0, progress: ((Int) -> Void)? = nil
  ) throws(HostFailure) -> ControlAnswer {
    let link = try connect()
    let nonce = Self.nonce()
    let maxTime = maxTime + more
    let limit = Clock.monotonic + maxTime
    let channel: any Channel
    do throws(HostFailure) {
      channel = try link.run(request.command(nonce: nonce)) { set, until throws(HostFailure) in
        if Clock.monotonic >= limit { throw .late(seconds: maxTime, part: []) }
        try PollSet.wait(&set, until: min(until ?? limit, limit))
      }
    } catch {
      throw Self.cut(error, [])
    }
    defer { channel.close() }
    var frame = ControlFrame(nonce: nonce)
    var input = CallInput(request.input, maxTime)
    var errors: [UInt8] = []
    // What came before the script began, the end of it.
    var talk: [UInt8] = []
    if request.input.size == 0 { input.finish(channel) }
    while true {
      // What has come is taken before anything is said about the end.
      while case let count = channel.readError(&input.buffer, atMost: 4096), count > 0 {
        errors = Array((errors + input.buffer[..<count]).suffix(8192))
      }
      while frame.answer == nil, !frame.isTooLong,
        case let count = channel.read(&input.buffer, atMost: input.buffer.count), count > 0
      {
        let bytes = input.buffer[..<count]
        if !frame.hasBegun { talk = Array((talk + bytes).suffix(1024)) }
        frame.append(bytes)
      }
      if let answer = frame.answer { return answer }
      if frame.isTooLong { throw .unfit(why: "the host's answer is too long") }
      if let ending = channel.ending {
        if case .failed(let failure) = ending {
          throw failure == .closed && !frame.hasBegun ? failure : Self.cut(failure, frame.part)
        }
        throw Self.failure(ending, errors, talk: frame.hasBegun ? nil : talk, part: frame.part)
      }
      // Nothing is given to a login shell that never gets to the script.
      let before = input.sent
      if frame.hasBegun { try input.give(channel) }
      if input.sent != before { progress?(input.sent) }
      if Clock.monotonic >= input.deadline { throw .late(seconds: maxTime, part: frame.part) }
      try turn(link, channel, until: input.deadline)
    }
  }

  /// Why the end of its channel keeps an answer from coming, of which a part may have come.
  ///
  /// - Parameters:
  ///   - errors: the end of what it said on standard error.
  ///   - talk: what came instead of the answer's beginning; nil when that has come.
  ///   - most: the most of what it said that is told, characters.
  public static func failure(
    _ ending: Ending, _ errors: [UInt8], talk: [UInt8]?, part: [UInt8] = [], most: Int = 200
  ) -> HostFailure {
    let words =
      (lastLine(errors) ?? talk.flatMap(lastLine)).map { String($0.prefix(most)) } ?? ending.reason
    // A signal may be the host going down; that there is no room for a process passes.
    if case .remoteExit = ending, talk != nil, !words.holds("temporarily") {
      return .noShell(says: words)
    }
    return .cutShort(says: words, part: part)
  }

  /// What the loss of a link is to a call.
  private static func cut(_ failure: HostFailure, _ part: [UInt8]) -> HostFailure {
    switch failure {
    case .linkLost, .silent, .closed: .cutShort(says: failure.reason, part: part)
    default: failure
    }
  }

  private static func lastLine(_ bytes: [UInt8]) -> String? {
    String(decoding: bytes, as: UTF8.self).split { $0.isNewline }.last.map(String.init)
  }

  /// Keeps the link alive for a time.
  ///
  /// - Parameters:
  ///   - until: an instant of `Clock.monotonic`.
  ///   - descriptors: the first that is readable ends the wait; -1 is none.
  /// - Throws: `HostFailure` when the link ends first.
  public func idle(until end: Double, also descriptors: [Int32] = []) throws(HostFailure) {
    while Clock.monotonic < end {
      if let failure = link?.ending { throw failure }
      try turn(link, nil, until: end, also: descriptors)
      if descriptors.contains(where: { $0 >= 0 && set.isReadable($0) }) { return }
    }
  }

  /// Waits for whatever comes first, and lets the link go on.
  private func turn(
    _ link: (any Link)?, _ channel: (any Channel)?, until: Double, also descriptors: [Int32] = []
  ) throws(HostFailure) {
    set.removeAll()
    link?.wants(&set)
    channel?.wants(&set)
    for descriptor in descriptors { set.add(descriptor) }
    try PollSet.wait(
      &set, until: [until, link?.deadline, channel?.deadline].compactMap { $0 }.min())
    link?.advance(set, now: Clock.monotonic)
  }

  /// 96 bits that nobody can guess.
  public static func nonce() -> String {
    (0..<12).map { _ in UInt8.random(in: .min ... .max) }.hex
  }
}

/// The input of a call on its way to the host.
private struct CallInput {
  /// How many bytes have left for the host.
  private(set) var sent = 0
  /// When the call fails unless something happens.
  private(set) var deadline: Double
  /// What is on its way between a channel and us.
  var buffer: [UInt8]

  /// Bytes that may be on the way behind what we see: windows, queues, buffers.
  private static let window = 4 << 20
  /// Bytes in a second.
  private static let poorPace = 32768.0
  /// Bytes of a file that are read at once.
  private static let piece = 256 << 10

  private let input: ControlRequest.Input
  private let maxTime: Double
  private var isOver = false
  private var wasDrained = false
  private let version: FileVersion?

  init(_ input: ControlRequest.Input, _ maxTime: Double) {
    self.input = input
    self.maxTime = maxTime
    deadline = Clock.monotonic + maxTime
    version = if case .file(let descriptor, _) = input { FileVersion(descriptor) } else { nil }
    buffer = [UInt8](repeating: 0, count: version == nil ? 64 << 10 : Self.piece + 4096)
  }

  mutating func finish(_ channel: any Channel) {
    isOver = true
    channel.finishWriting()
  }

  /// Gives the channel as much as it takes.
  mutating func give(_ channel: any Channel) throws(HostFailure) {
    if isOver {
      if !wasDrained, channel.isDrained {
        wasDrained = true
        // What is still on the way is not known: a window full, at the pace of a poor
        // line. One that is dead is noticed by the link.
        deadline =
          Clock.monotonic + maxTime + Double(min(sent, Self.window)) / Self.poorPace
      }
      return
    }
    let before = sent
    switch input {
    case .none: break
    case .bytes(let bytes):
      while sent < bytes.count, case let count = channel.write(bytes[sent...]), count > 0 {
        sent += count
      }
    case .file(let descriptor, let size): try give(descriptor, size, channel)
    }
    if sent > before { deadline = Clock.monotonic + maxTime }
    if sent == input.size { finish(channel) }
  }

  /// Never reads more of the file than there is room for.
  private mutating func give(
    _ descriptor: Int32, _ size: Int, _ channel: any Channel
  ) throws(HostFailure) {
    while sent < size {
      let room = min(channel.room, Self.piece, size - sent)
      guard room > 0 else { return }
      // The kernel copies several times slower to where no page begins.
      var start = 0
      let offset = off_t(sent)
      let count = buffer.withUnsafeMutableBytes { buffer in
        start = -Int(bitPattern: buffer.baseAddress) & 4095
        return pread(descriptor, buffer.baseAddress! + start, room, offset)
      }
      if count < 0 && systemError == EINTR { continue }
      guard count > 0 else {
        throw .unfit(why: count < 0 ? systemReason(systemError) : "the file became shorter")
      }
      // Without its last byte the file is not taken at the other end.
      if sent + count == size, FileVersion(descriptor) != version {
        throw .unfit(why: "the file changed while it was sent")
      }
      let taken = channel.write(buffer[start..<start + count])
      guard taken > 0 else { return }
      sent += taken
    }
  }
}
