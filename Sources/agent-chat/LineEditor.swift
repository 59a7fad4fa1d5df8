import CEdit
import CLibc
import Core

/// A line that a person types, by libedit: with editing, and the lines typed before. The
/// caller waits for keys, so that whatever else it does goes on meanwhile.
final class LineEditor {
  enum Outcome: Equatable {
    case line(String)
    /// The end of the input: ^D, or no terminal any more.
    case end
    case stopped
  }

  private let edit: OpaquePointer
  private let lines: OpaquePointer
  private let reader: UnsafeMutablePointer<cedit_reader>
  private let wait: () -> Bool
  private var hasStopped = false

  private static let mostLines = 1000

  /// Nil when there is no memory.
  init?(program: String, earlier: [String], wait: @escaping () -> Bool) {
    cedit_use_utf8()
    guard let lines = history_init() else { return nil }
    reader = .allocate(capacity: 1)
    reader.initialize(to: cedit_reader())
    guard let edit = cedit_open(program, reader, lines) else {
      history_end(lines)
      reader.deallocate()
      return nil
    }
    (self.edit, self.lines, self.wait) = (edit, lines, wait)
    cedit_limit(lines, Int32(Self.mostLines))
    for line in earlier.suffix(Self.mostLines) { cedit_add(lines, line) }
    reader.pointee.context = Unmanaged.passUnretained(self).toOpaque()
    reader.pointee.next = { context in
      guard let context else { return 0 }
      return Unmanaged<LineEditor>.fromOpaque(context).takeUnretainedValue().next()
    }
  }

  deinit {
    el_end(edit)
    history_end(lines)
    reader.deallocate()
  }

  /// Reads a line. The terminal is as it was when this returns.
  func read() -> Outcome {
    hasStopped = false
    var count: Int32 = 0
    guard let text = el_gets(edit, &count), count > 0 else { return hasStopped ? .stopped : .end }
    var line = String(cString: text)
    while line.utf8.last == 10 || line.utf8.last == 13 { line.unicodeScalars.removeLast() }
    return .line(line)
  }

  func add(_ line: String) { cedit_add(lines, line) }

  /// What is typed so far is shown again, behind something else that was written.
  func refresh() { cedit_refresh(edit) }

  func resize() { el_resize(edit) }

  /// The terminal may have been somebody else's meanwhile.
  func resume() {
    cedit_prepare(edit)
    cedit_refresh(edit)
  }

  /// 0 at the end. Not a byte more is read: it may be a while until there is one.
  private func next() -> Int32 {
    guard let first = byte() else { return 0 }
    let length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
    var bytes = [first]
    while bytes.count < length, first >= 0xc2 {
      guard let byte = byte() else { return 0 }
      bytes.append(byte)
      if byte & 0xc0 != 0x80 { break }
    }
    return Int32(String(decoding: bytes, as: UTF8.self).unicodeScalars.first?.value ?? 0xfffd)
  }

  private func byte() -> UInt8? {
    guard !hasStopped, wait() else {
      hasStopped = true
      return nil
    }
    var byte: UInt8 = 0
    return CLibc.read(0, &byte, 1) == 1 ? byte : nil
  }
}
