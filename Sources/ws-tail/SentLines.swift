import Agent
import CLibc
import Core
import Records
import Web

/// Sends the lines of standard input: `--send`.
///
/// While the link is down they wait, and when many do, whoever writes them waits, too.
final class SentLines {
  /// The longest line, bytes.
  static let longest = 64 << 20
  /// With so many bytes of lines waiting, no more are read.
  private static let enough = 1 << 20
  /// With so many bytes on their way to the network, the rest waits here: what is on its
  /// way is lost with the connection.
  private static let ahead = 1 << 16
  /// The most that is read in one turn: who never pauses must not keep signals, the clock
  /// and the link waiting.
  private static let readsInTurn = 4

  var socket: LiveSocket?

  private var faults: FaultLog
  var onFault: () -> Void = {}
  private var waiting = ByteQueue()
  private var scanned = 0
  private var number = 0
  private var isEnded = false
  private var isSkipping = false

  init(_ diagnostics: Diagnostics) { faults = FaultLog(diagnostics) }

  var descriptor: Int32? { isEnded || hasEnough ? nil : 0 }

  /// Whether lines wait, and not one long line for its end.
  private var hasEnough: Bool { waiting.count - scanned >= Self.enough }

  func turn() {
    send()
    for _ in 0..<Self.readsInTurn {
      guard descriptor != nil, isReadable, readSome() else { return }
      send()
    }
  }

  private var isReadable: Bool {
    var entry = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }

  /// Whether there may be more.
  private func readSome() -> Bool {
    let room = waiting.room(1 << 16)
    let count = read(0, room.baseAddress, room.count)
    if count > 0 {
      waiting.put(count)
      return true
    }
    if count < 0 && (systemError == EINTR || systemError == EAGAIN) { return false }
    if count < 0 {
      faults.file("-", systemReason(systemError))
      onFault()
    }
    isEnded = true
    // The last line may have no end.
    if let last = waiting.bytes.last ?? (isSkipping ? 0 : nil), last != 10 {
      withUnsafeBytes(of: UInt8(10)) { waiting.append($0) }
    }
    send()
    return false
  }

  private func send() {
    while let socket, socket.unsent < Self.ahead, let line = nextLine() {
      socket.send(text: line)
    }
    if isEnded, waiting.count == 0 { faults.finish() }
  }

  private func nextLine() -> [UInt8]? {
    while true {
      let bytes = waiting.bytes
      guard let start = bytes.baseAddress,
        let end = memchr(start + scanned, 10, bytes.count - scanned)
      else {
        scanned = bytes.count
        if scanned > Self.longest {
          isSkipping = true
          waiting.removeAll()
          scanned = 0
        }
        return nil
      }
      let count = UnsafeRawPointer(end) - start
      let line = Array(UnsafeRawBufferPointer(start: start, count: count))
      waiting.drop(count + 1)
      scanned = 0
      number += 1
      if isSkipping {
        isSkipping = false
        fault("longer than \(Self.longest) bytes")
      } else if !line.withUnsafeBytes(UTF8Text.isValid) {
        fault("not UTF-8")
      } else {
        return line
      }
    }
  }

  private func fault(_ reason: String) {
    faults.line("-", number, reason)
    onFault()
  }
}
