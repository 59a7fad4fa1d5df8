import CLibc
import Core

struct CommandPump {
  private static let complaintLimit = 4096

  var output: [UInt8] = []
  var notes: [NoteLines.Line] = []
  private(set) var count = 0
  private let child: ChildProcess
  private var input: ArraySlice<UInt8>
  private var isOutputOpen = true
  private var isErrorOpen = true
  private var areNotesOpen = true
  private var noteLines = NoteLines()
  private var errors: [UInt8] = []

  init(_ child: ChildProcess, input: [UInt8]) {
    self.child = child
    self.input = input[...]
    if input.isEmpty { child.closeInput() }
  }

  var isOver: Bool { !isOutputOpen }

  /// The last line that it wrote on standard error, not too long and safe to show.
  var complaint: String {
    let text = String(decoding: errors, as: UTF8.self)
    let line = text.split(whereSeparator: \.isNewline).last { !$0.trimmingBlanks().isEmpty } ?? ""
    return Visible.line(String(line.prefix(300)))
  }

  /// Moves what can be moved, and waits for that, a fifth of a second at most. Returns whether
  /// somebody wrote to `wake`.
  mutating func wait(_ wake: Int32) -> Bool {
    var entries = [
      pollfd(fd: child.input, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: isOutputOpen ? child.output : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isErrorOpen ? child.error : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: areNotesOpen ? child.notes : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&entries, nfds_t(entries.count), 200) > 0 else { return false }
    if entries[0].revents != 0 { child.feed(&input) }
    if entries[1].revents != 0 {
      isOutputOpen = ChildProcess.drain(child.output, into: &output)
      count += output.count
    }
    if entries[2].revents != 0 {
      isErrorOpen = ChildProcess.drain(child.error, into: &errors)
      errors = errors.suffix(Self.complaintLimit)
    }
    if entries[3].revents != 0 { readNotes() }
    guard entries[4].revents != 0 else { return false }
    var byte: UInt8 = 0
    return CLibc.read(wake, &byte, 1) == 1
  }

  /// Reads what is left of the notes, without waiting for more.
  mutating func drainNotes() {
    if areNotesOpen { readNotes() }
    notes += noteLines.finish()
  }

  private mutating func readNotes() {
    var bytes: [UInt8] = []
    areNotesOpen = ChildProcess.drain(child.notes, into: &bytes)
    notes += noteLines.add(bytes)
  }
}
