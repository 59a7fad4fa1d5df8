import CLibc
import Core
import Web

/// A command of the suite that runs beside this one, whose lines are read as they come.
final class HostProgram {
  private let child: ChildProcess
  private var output = ByteQueue(), errors: [UInt8] = []
  private var input: ArraySlice<UInt8>
  /// Whether there may be more of it.
  private let staysOpen: Bool
  private var isThrough = false

  /// - Parameters:
  ///   - input: what it reads.
  ///   - staysOpen: whether that has no end.
  /// - Throws: `LinkEnd.failed`.
  init(
    _ words: [String], input: [UInt8] = [], staysOpen: Bool = false,
    environment: [String: String?] = [:]
  ) throws(LinkEnd) {
    self.staysOpen = staysOpen
    child = try LinkEnd.ifFailed(
      ChildProcess(
        words, environment: environment, input: input.isEmpty && !staysOpen ? .nothing : .pipe,
        error: .pipe))
    self.input = input[...]
  }

  /// Its status once it has ended.
  var status: Int32 { child.exitStatus ?? 2 }
  /// Whether all of it was read and it has ended.
  var hasEnded: Bool { isThrough && child.waitStatus != nil }
  /// What is to be waited for.
  var files: [pollfd] {
    if isThrough { return [] }
    return Waiter.reading(child.output) + Waiter.reading(child.error)
      + (input.isEmpty ? [] : [pollfd(fd: child.input, events: Int16(POLLOUT), revents: 0)])
  }

  /// What it said last, in its own words but for its name.
  var failure: Failure {
    let lines = String(decoding: errors, as: UTF8.self).split(separator: "\n")
    // Behind what is wrong with its words, how it is used is of no use here.
    let last = lines.last { !$0.hasPrefix("usage: ") }
    let said = last.map { $0.drop { $0 != ":" }.dropFirst(2) } ?? ""
    return Failure(
      said.isEmpty ? "ended with status \(status)" : String(said),
      ExitStatus(rawValue: status) ?? .failure)
  }

  /// Gives it what there is of its input, as much as it takes.
  func write() {
    child.feed(&input, staysOpen: staysOpen)
    receive()
  }

  /// Ends it, and what it has begun with it.
  func end() { _ = child.end(within: 0.5) }

  /// Gives it more to read.
  func send(_ bytes: [UInt8]) {
    input += bytes
    write()
  }

  /// The next line that is there; nil for none now.
  func line() -> [UInt8]? {
    if output.bytes.firstIndex(of: 10) == nil { receive() }
    guard let end = output.bytes.firstIndex(of: 10) else { return nil }
    let line = Array(output.bytes[..<end])
    output.drop(end + 1)
    return line
  }

  /// All lines, once it has ended.
  func lines(_ waiter: Waiter) throws(LinkEnd) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    while true {
      write()
      while let line = line() { lines.append(line) }
      if hasEnded { return lines }
      try waiter.wait(until: Clock.monotonic + (isThrough ? 0.02 : 60)) { () throws(LinkEnd) in
        files
      }
    }
  }

  private func receive() {
    while !isThrough {
      let room = output.room(64 << 10)
      let count = read(child.output, room.baseAddress, room.count)
      if count < 0, systemError == EINTR { continue }
      if count < 0, systemError == EAGAIN { break }
      if count <= 0 { isThrough = true } else { output.put(count) }
    }
    _ = ChildProcess.drain(child.error, into: &errors)
    errors.removeFirst(max(0, errors.count - 8192))
    if isThrough { _ = child.reap() }
  }
}
