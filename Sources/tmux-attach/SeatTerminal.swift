import CLibc
import Core
import Shell

/// The user's terminal as the far end's: bytes pass as they are, and whatever
/// happens it is given back as it was found.
final class SeatTerminal {
  let input: Int32 = 0
  private(set) var modes = ScreenModes()
  private(set) var isEntered = false
  /// Where bytes go: a description of the terminal of our own, which never blocks. That
  /// of standard output is the shell's, too, and must not be changed.
  let output: Int32
  private let isOwn: Bool
  private var queue = ByteQueue()
  private static let limit = 256 << 10
  private var isRaw = false
  private var hasFailed = false

  /// Standard input and output are a terminal.
  init() {
    let name = ttyname(1).map { String(cString: $0) }
    let opened = name.map { clibc_open($0, O_WRONLY | O_NOCTTY | O_NONBLOCK) } ?? -1
    isOwn = opened >= 0
    output = isOwn ? opened : 1
  }

  deinit {
    leave()
    if isOwn { close(output) }
  }

  /// Columns and rows; 80 by 24 when the terminal does not tell.
  var size: WindowSize { WindowSize(of: 1) }

  /// Takes the terminal: keys one by one, unseen, ^C and ^Z still signals. Returns false when it
  /// has gone.
  func enter() -> Bool {
    guard !isEntered else { return true }
    let undo = modes.undo
    isRaw = false
    isEntered = clibc_terminal_guard(input, output, undo, undo.count) == 0
    return isEntered
  }

  /// Gives the terminal back. What has not been shown yet is forgotten.
  func leave() {
    guard isEntered else { return }
    isEntered = false
    queue.removeAll()
    setUndo()
    clibc_terminal_restore()
  }

  /// Whether every key goes to the far end, ^C and ^Z too.
  func setRaw(_ isRaw: Bool) {
    self.isRaw = isRaw
    if isEntered { _ = clibc_terminal_keys(isRaw) }
  }

  /// Stops the process, as its shell expects, and comes back when it goes on. Returns false when
  /// the terminal has gone.
  func stop() -> Bool {
    let wasRaw = isRaw
    leave()
    clibc_stop()
    guard enter() else { return false }
    setRaw(wasRaw)
    queue.append(modes.redo)
    return true
  }

  /// The process was stopped and goes on: the shell may have changed the terminal.
  func goOn() {
    setRaw(isRaw)
    // Entered twice, the alternate screen would forget where the cursor was.
    queue.append(modes.undo)
    queue.append(modes.redo)
  }

  /// How many more bytes of the far end are wanted.
  var room: Int { max(0, Self.limit - queue.count) }
  var isWaiting: Bool { !queue.isEmpty && !hasFailed }

  func pass(_ bytes: ArraySlice<UInt8>) {
    let mark = modes.mark
    modes.receive(bytes)
    queue.append(bytes)
    if modes.mark != mark { setUndo() }
  }

  func undo() { pass(modes.undo[...]) }

  /// Shows a text of ours, which leaves all modes as they are.
  func draw(_ text: String) { queue.append(Array(text.utf8)) }

  func forgetOutput() { queue.removeAll() }

  /// Writes as much as the terminal takes now; one that blocks gets little at once.
  func flush() {
    while isWaiting {
      let bytes = queue.bytes
      let count = write(output, bytes.baseAddress, isOwn ? bytes.count : min(bytes.count, 4096))
      if count > 0 { queue.drop(count) }
      if count < 0 && systemError != EAGAIN && systemError != EINTR { hasFailed = true }
      if count <= 0 || !isOwn { return }
    }
  }

  /// Writes all that waits; gives up when the terminal takes nothing for so long.
  func drain(seconds: Double) {
    var set = PollSet()
    while isWaiting {
      set.removeAll()
      set.add(output, reading: false, writing: true)
      set.wait(seconds: seconds)
      guard set.isWritable(output) else { return }
      flush()
    }
  }

  private func setUndo() {
    let undo = modes.undo
    _ = clibc_terminal_undo(undo, undo.count)
  }
}
