import CLibc
import Core

/// A command that runs for a client of the control socket: bytes between a channel and
/// the client's three pipes. What the client does not take stays at the host.
final class ServedCall {
  /// What the client is to be told.
  enum News: Equatable {
    case opened
    /// The host runs no more commands on this connection.
    case refused(why: String)
    case exited(status: Int32)
    /// The connection is gone.
    case lost
  }

  let number: UInt32
  /// Whether the channel may have more at once: there was room again.
  private(set) var hasMore = false
  private let channel: any Channel
  private var input: Int32
  private var output: Pipe
  private var error: Pipe
  private var isOpened = false
  private(set) var isOver = false

  /// Bytes that go out in one piece: keys of the terminal wait no longer than that.
  private static let piece = 32 << 10

  init(_ number: UInt32, _ channel: any Channel, _ descriptors: [Int32]) {
    self.number = number
    self.channel = channel
    input = descriptors[0]
    output = Pipe(descriptors[1])
    error = Pipe(descriptors[2])
  }

  deinit { close() }

  func wants(_ set: inout PollSet) {
    guard !isOver else { return }
    if takesInput { set.add(input) }
    output.wants(&set)
    error.wants(&set)
  }

  /// Goes on as far as it can, within bounds.
  func advance(_ set: PollSet, _ buffer: inout [UInt8]) -> [News] {
    guard !isOver else { return [] }
    hasMore = false
    var news: [News] = []
    if !isOpened, channel.isStarted {
      isOpened = true
      news.append(.opened)
    }
    if takesInput, set.isReadable(input) { give(&buffer) }
    for _ in 0..<4 {
      let moved =
        output.move(&buffer, channel.read) + error.move(&buffer, channel.readError)
      hasMore = moved > 0
      if moved == 0 { break }
    }
    guard let ending = channel.ending, output.isEmpty, error.isEmpty else { return news }
    switch ending {
    case .remoteExit, .remoteSignal: news.append(.exited(status: ending.exitStatus))
    case .failed(.connectFailed(let why)) where !isOpened: news.append(.refused(why: why))
    default: news.append(.lost)
    }
    close()
    return news
  }

  /// Gives it up: the command gets a hang-up.
  func close() {
    guard !isOver else { return }
    isOver = true
    hasMore = false
    channel.close()
    closeInput()
    output.close()
    error.close()
  }

  private var takesInput: Bool { input >= 0 && isOpened && channel.isDrained && channel.room > 0 }

  private func give(_ buffer: inout [UInt8]) {
    let count = read(input, &buffer, min(Self.piece, channel.room, buffer.count))
    if count < 0 && (systemError == EAGAIN || systemError == EINTR) { return }
    guard count > 0 else {
      closeInput()
      channel.finishWriting()
      return
    }
    // There was room for it.
    _ = channel.write(buffer[..<count])
  }

  private func closeInput() {
    if input >= 0 { CLibc.close(input) }
    input = -1
  }
}

extension ServedCall {
  /// One of the client's outputs, and what it has not taken yet.
  private struct Pipe {
    private var descriptor: Int32
    private var waiting: ArraySlice<UInt8> = []

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    var isEmpty: Bool { waiting.isEmpty }

    func wants(_ set: inout PollSet) {
      if !waiting.isEmpty { set.add(descriptor, reading: false, writing: true) }
    }

    /// Moves one piece on.
    ///
    /// - Returns: how many bytes were taken from the channel.
    mutating func move(
      _ buffer: inout [UInt8], _ take: (inout [UInt8], _ limit: Int) -> Int
    ) -> Int {
      if !waiting.isEmpty {
        // Nothing is left of it when nobody reads any more.
        let sent = push(waiting)
        waiting = waiting.dropFirst(sent)
        guard waiting.isEmpty else { return 0 }
      }
      let count = take(&buffer, buffer.count)
      guard count > 0 else { return 0 }
      let sent = push(buffer[..<count])
      // A copy, and only of what waits.
      if sent < count { waiting = ArraySlice(Array(buffer[sent..<count])) }
      return count
    }

    /// - Returns: how many bytes are done with: all of them when nobody reads any more.
    private mutating func push(_ bytes: ArraySlice<UInt8>) -> Int {
      guard descriptor >= 0 else { return bytes.count }
      let count = PipeEnd.give(descriptor, bytes)
      if count >= 0 { return count }
      if systemError == EAGAIN || systemError == EINTR { return 0 }
      close()
      return bytes.count
    }

    mutating func close() {
      if descriptor >= 0 { CLibc.close(descriptor) }
      descriptor = -1
      waiting = []
    }
  }
}
