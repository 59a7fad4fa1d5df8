import CLibc
import Core

/// Takes the lines of one program to another that filters them, with marks between: what mark came
/// out says how many lines went through.
final class NoticePump {
  private let source: ChildProcess
  private let filter: ChildProcess
  private var queue = ByteQueue()
  private var rest: [UInt8] = []
  private var count = 0
  private var hasEnded = false
  /// What a mark begins with; nobody else can write one.
  private let mark: [UInt8]

  init(from source: ChildProcess, to filter: ChildProcess) {
    (self.source, self.filter) = (source, filter)
    var generator = SystemRandomNumberGenerator()
    let secret = String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
    mark = Array("{\"type\":\"mark\",\"of\":\"\(secret)\",\"lines\":".utf8)
  }

  /// What is to be waited for; nil when the filter is behind, which is to be looked at soon.
  var descriptor: Int32? { hasEnded ? -1 : queue.isEmpty ? source.output : nil }

  /// How many lines had gone before this one; nil for what is no mark.
  func lines(before line: UnsafeRawBufferPointer) -> Int? {
    guard line.starts(with: mark) else { return nil }
    return Int(String(decoding: line.dropFirst(mark.count).dropLast(), as: UTF8.self))
  }

  func turn() {
    while !hasEnded {
      while !queue.isEmpty {
        let taken = write(filter.input, queue.bytes.baseAddress, queue.count)
        if taken < 0, systemError == EINTR { continue }
        if taken < 0, systemError == EAGAIN { return }
        if taken < 0 { return end() }
        queue.drop(taken)
      }
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let got = read(source.output, &bytes, bytes.count)
      if got < 0, systemError == EINTR { continue }
      if got < 0, systemError == EAGAIN { return }
      if got <= 0 { return end() }
      rest += bytes[..<got]
      guard let last = rest.lastIndex(of: 10) else { continue }
      let lines = rest[...last]
      count += lines.reduce(0) { $0 + ($1 == 10 ? 1 : 0) }
      queue.append(lines + mark + Array("\(count)}\n".utf8))
      rest.removeFirst(lines.count)
    }
  }

  private func end() {
    hasEnded = true
    filter.closeInput()
  }
}
