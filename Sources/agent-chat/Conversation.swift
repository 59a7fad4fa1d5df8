import Agent
import CEdit
import CLibc
import Core
import Web

final class Conversation {
  private let loop: ChatLoop
  private let options: ChatOptions
  private let diagnostics: Diagnostics
  private var editor: LineEditor?
  private var signal: Int32?
  private var failure: (any Error)?

  init(_ loop: ChatLoop, options: ChatOptions, diagnostics: Diagnostics) {
    (self.loop, self.options, self.diagnostics) = (loop, options, diagnostics)
  }

  func run() throws -> ExitStatus {
    for number in [SIGWINCH, SIGCONT] where !clibc_signal_is_ignored(number) {
      _ = clibc_signals_note(number)
    }
    let history = ChatHistory(diagnostics)
    guard
      let editor = LineEditor(
        program: diagnostics.program, earlier: history.lines,
        wait: { [unowned self] in waitForKeys() })
    else { diagnostics.fail("libedit: out of memory") }
    self.editor = editor
    if let words = options.words { try say(words) }
    while true {
      if let closed = loop.closed { return loop.report(.refused(closed), key: "") }
      switch try read(editor) {
      case .line(let line):
        guard line.utf8.contains(where: { $0 != 32 && $0 != 9 }) else { continue }
        editor.add(line)
        history.add(line)
        switch line {
        case "/help": end(Self.help)
        case "/quit":
          loop.stop()
          return .success
        // So the agent's own words of these names can be said.
        case " /help", " /quit": try say(String(line.dropFirst()))
        default: try say(line)
        }
      case .end:
        end("\n")
        loop.stop()
        return .success
      case .stopped:
        end("\n")
        if let failure { throw failure }
        if let signal { loop.die(signal) }
      }
    }
  }

  private static let help = """
    /help     show this
    /quit     leave, as Ctrl-D does
    Ctrl-C    end an answer; at the prompt, leave
    Up, Down  bring back what was typed before
    All else goes to the agent, also /new or /status; a blank in front sends /help itself.

    """

  private func say(_ text: String) throws {
    let question = options.question(text)
    let end = try loop.ask(question)
    // The end of the line is told above.
    if loop.closed == nil { _ = loop.report(end, key: question.key) }
  }

  private func read(_ editor: LineEditor) throws -> LineEditor.Outcome {
    (signal, failure) = (nil, nil)
    loop.aside = (before: { [unowned self] in end("\n") }, behind: { editor.refresh() })
    defer { loop.aside = nil }
    return editor.read()
  }

  /// Goes on with everything else until a key is there.
  private func waitForKeys() -> Bool {
    while true {
      if isReadable(0) { return true }
      do {
        switch try loop.waitForKey() {
        case nil: break
        case SIGWINCH: editor?.resize()
        case SIGCONT: editor?.resume()
        case let number?:
          signal = number
          return false
        }
      } catch {
        failure = error
        return false
      }
      if loop.closed != nil { return false }
    }
  }

  private func end(_ text: String) {
    // A terminal that is gone is noticed by whatever is written next.
    try? RecordWriter.print(text)
  }
}

/// The lines that were typed, from run to run: a line each, for the user alone.
struct ChatHistory {
  /// Oldest first.
  let lines: [String]
  private let path: String?
  private let diagnostics: Diagnostics

  private static let (mostBytes, mostLines) = (1 << 20, 1000)

  init(_ diagnostics: Diagnostics) {
    self.diagnostics = diagnostics
    do throws(Failure) {
      let path = try Folders().stateFile("chat-history")
      let file = StateFile(path: path)
      let bytes = try file.read(limit: BoundedFile.largest) ?? []
      var kept = bytes.split(separator: 10)
      if bytes.count > Self.mostBytes {
        kept = Array(kept.suffix(Self.mostLines))
        try file.replace(with: Array(kept.joined(separator: [10])) + [10])
      }
      lines = kept.map { String(decoding: $0, as: UTF8.self) }
      self.path = path
    } catch {
      diagnostics.say(error.message)
      (lines, path) = ([], nil)
    }
  }

  func add(_ line: String) {
    guard let path else { return }
    do throws(Failure) {
      let descriptor = try OwnPath.append(path)
      defer { close(descriptor) }
      try RecordWriter.write(Array("\(line)\n".utf8), to: descriptor, of: path)
    } catch {
      diagnostics.say(error.message)
    }
  }
}

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
