import CLibc
import Core
import Screen
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

/// What the bytes written to a terminal have left switched on in it, so that it
/// can be given back as it was, and set up again after a stop.
///
/// Known are the private modes and controls that programs use and terminals keep
/// (xterm's ctlseqs, the keyboard protocol of kitty); the rest passes.
struct ScreenModes {
  /// Private modes that are not as a fresh terminal has them, in order.
  private(set) var changed: [Int] = []
  /// Whether the bytes so far end inside of a control sequence or a string.
  var isInSequence: Bool { state != .ground }

  private enum State {
    case ground, escape, charset, control, string, stringEscape
  }

  private var state = State.ground
  private var isTouched = false
  private var sequence: [UInt8] = []
  private var hasKeypad = false
  private var hasRegion = false
  private var hasCursorStyle = false
  private var otherKeys: [UInt8]?
  private var kittyFlags: [[UInt8]] = []
  private var titles = 0

  private static let alternateScreens = [47, 1047, 1049]
  /// On in a fresh terminal: wrap, the cursor.
  private static let usuallyOn = [7, 25]
  /// Off in a fresh terminal, and always switched off at the end: cursor keys, the
  /// mouse and its encodings, the focus, pastes, updates in one go.
  private static let usuallyOff = [
    1, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 2031, 2048,
    7727,
  ]

  var isOnAlternateScreen: Bool { changed.contains(where: Self.alternateScreens.contains) }

  /// Changes when `undo` is another one, apart from a sequence that is open.
  struct Mark: Equatable {
    fileprivate var isTouched: Bool
    fileprivate var screens: [Int]
    fileprivate var counts: [Int]
    fileprivate var others: [Bool]
  }

  var mark: Mark {
    Mark(
      isTouched: isTouched, screens: changed.filter(Self.alternateScreens.contains),
      counts: [kittyFlags.count, titles],
      others: [otherKeys != nil, hasRegion, hasCursorStyle])
  }

  mutating func receive(_ bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { bytes in
      var index = 0
      while index < bytes.count {
        if state == .ground {
          // Most bytes are text.
          let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
          guard let found = memchr(rest.baseAddress!, 0x1b, rest.count) else { break }
          index += rest.baseAddress!.distance(to: found) + 1
          state = .escape
          isTouched = true
          continue
        }
        step(bytes[index])
        index += 1
      }
    }
  }

  private mutating func step(_ byte: UInt8) {
    switch (state, byte) {
    case (.string, 0x07), (.string, 0x18), (.string, 0x1a): state = .ground
    case (.string, 0x1b): state = .stringEscape
    case (.string, _): break
    case (.stringEscape, UInt8(ascii: "\\")): state = .ground
    case (_, 0x18), (_, 0x1a): state = .ground
    case (_, 0x1b): state = .escape
    case (.control, 0x20...0x3f):
      if sequence.count < 64 { sequence.append(byte) }
    case (.control, 0x40...0x7e):
      state = .ground
      obey(byte)
    case (.control, _): break
    case (.charset, 0x20...0x2f): break
    case (.charset, _): state = .ground
    default:
      // Behind ESC, also the one that ended a string.
      state = .ground
      switch byte {
      case UInt8(ascii: "["):
        sequence.removeAll(keepingCapacity: true)
        state = .control
      case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"),
        UInt8(ascii: "X"):
        state = .string
      case UInt8(ascii: "="): hasKeypad = true
      case UInt8(ascii: ">"): hasKeypad = false
      case UInt8(ascii: "c"): reset()
      case 0x20...0x2f: state = .charset
      default: break
      }
    }
  }

  private mutating func obey(_ final: UInt8) {
    let mark = sequence.first ?? 0
    switch (final, mark) {
    case (UInt8(ascii: "h"), UInt8(ascii: "?")), (UInt8(ascii: "l"), UInt8(ascii: "?")):
      for number in numbers(sequence.dropFirst()) { set(number, final == UInt8(ascii: "h")) }
    case (UInt8(ascii: "u"), UInt8(ascii: ">")):
      if kittyFlags.count < 32 { kittyFlags.append(Array(sequence.dropFirst())) }
    case (UInt8(ascii: "u"), UInt8(ascii: "<")):
      let count = numbers(sequence.dropFirst()).first ?? 1
      kittyFlags.removeLast(min(kittyFlags.count, max(1, count)))
    case (UInt8(ascii: "m"), UInt8(ascii: ">")):
      guard numbers(sequence.dropFirst()).first == 4 else { return }
      let isOn = numbers(sequence.dropFirst()).count > 1 && sequence.last != UInt8(ascii: "0")
      otherKeys = isOn ? sequence : nil
    case (UInt8(ascii: "n"), UInt8(ascii: ">")): otherKeys = nil
    case (UInt8(ascii: "r"), _):
      guard mark < UInt8(ascii: "<") else { return }
      hasRegion = !sequence.isEmpty
    case (UInt8(ascii: "t"), _):
      let first = numbers(sequence[...]).first
      if first == 22 { titles = min(titles + 1, 16) }
      if first == 23 { titles = max(titles - 1, 0) }
    case (UInt8(ascii: "q"), _):
      guard sequence.last == UInt8(ascii: " ") else { return }
      hasCursorStyle = sequence != Array("0 ".utf8) && sequence != Array(" ".utf8)
    case (UInt8(ascii: "p"), UInt8(ascii: "!")): reset()
    default: break
    }
  }

  private mutating func reset() {
    self = ScreenModes()
    isTouched = true
  }

  private mutating func set(_ number: Int, _ isOn: Bool) {
    let isKnown =
      Self.usuallyOn.contains(number) || Self.usuallyOff.contains(number)
      || Self.alternateScreens.contains(number)
    guard isKnown else { return }
    changed.removeAll { $0 == number }
    if isOn != Self.usuallyOn.contains(number) { changed.append(number) }
  }

  private func numbers(_ text: ArraySlice<UInt8>) -> [Int] {
    text.split(separator: UInt8(ascii: ";")).compactMap {
      Int(String(decoding: $0, as: UTF8.self))
    }
  }
}

extension ScreenModes {
  /// What gives the terminal back: first whatever is in the middle is broken off.
  /// The alternate screen is left only where it was entered: leaving it moves the
  /// cursor.
  var undo: [UInt8] {
    guard isTouched else { return [] }
    var text = isInSequence ? "\u{18}" : ""
    text += Self.usuallyOff.map { "\u{1b}[?\($0)l" }.joined()
    text += "\u{1b}>\u{1b}(B\u{0f}\u{1b}[0m"
    if !kittyFlags.isEmpty { text += "\u{1b}[<\(kittyFlags.count)u" }
    text += String(repeating: "\u{1b}[23;0;0t", count: titles)
    if otherKeys != nil { text += "\u{1b}[>4m" }
    if hasCursorStyle { text += "\u{1b}[0 q" }
    text += "\u{1b}[?7h\u{1b}[?25h"
    for number in changed where Self.alternateScreens.contains(number) {
      text += "\u{1b}[?\(number)l"
    }
    // Without a region the cursor is at home: it goes back to where it was.
    if hasRegion { text += "\u{1b}7\u{1b}[r\u{1b}8" }
    return Array(text.utf8)
  }

  /// What sets a terminal up like this again after `undo`, but for its text.
  var redo: [UInt8] {
    var text = ""
    let screens = changed.filter(Self.alternateScreens.contains)
    for number in screens + changed.filter({ !screens.contains($0) && $0 != 2026 }) {
      text += "\u{1b}[?\(number)\(Self.usuallyOn.contains(number) ? "l" : "h")"
    }
    if hasKeypad { text += "\u{1b}=" }
    text += String(repeating: "\u{1b}[22;0;0t", count: titles)
    var bytes = Array(text.utf8)
    func add(_ middle: [UInt8], _ final: String) {
      bytes += [0x1b, UInt8(ascii: "[")] + middle + Array(final.utf8)
    }
    for flags in kittyFlags { add([UInt8(ascii: ">")] + flags, "u") }
    if let otherKeys { add(otherKeys, "m") }
    return bytes
  }
}

/// The one line that tells a person about the link, and leaves the screen as it
/// was: before there is a session on the line of the cursor, later on the last row.
///
/// It is drawn only when it changes.
struct StatusLine {
  enum State: Equatable {
    case connecting
    /// Lost: the reason, the number of the next try, and in how many seconds it is made.
    case waiting(why: String, attempt: Int, seconds: Int)
    case trying(why: String, attempt: Int)
    /// What `~?` asks for.
    case escapes
  }

  private let host: String
  private let isSilent: Bool
  private var shown: String?
  private var isOnLastRow = false

  init(host: String, isSilent: Bool) {
    (self.host, self.isSilent) = (host, isSilent)
  }

  static func text(_ state: State, host: String) -> String {
    let host = Visible.line(host)
    return switch state {
    case .connecting: "\(host): connecting"
    case .waiting(let why, let attempt, let seconds):
      "\(host): reconnecting in \(seconds) s (try \(attempt); Enter: now, ~.: end): "
        + Visible.line(why)
    case .trying(let why, let attempt):
      "\(host): reconnecting (try \(attempt); ~.: end): \(Visible.line(why))"
    case .escapes: "~.  end   ~Ctrl-Z  suspend   ~~  send ~   ~?  this list"
    }
  }

  /// Cursor and looks come back (DECSC, DECRC); what the far end left open is broken off first.
  static func onLastRow(_ text: String, _ size: WindowSize, isInSequence: Bool) -> String {
    (isInSequence ? "\u{18}" : "")
      + "\u{1b}7\u{1b}[?6l\u{1b}(B\u{0f}\u{1b}[\(size.rows);1H\u{1b}[0;7m"
      + fitted(text, size.columns - 1) + "\u{1b}[0m\u{1b}[K\u{1b}8"
  }

  static func here(_ text: String, _ size: WindowSize) -> String {
    "\r" + fitted(text, size.columns - 1) + "\u{1b}[K"
  }

  private static func fitted(_ text: String, _ columns: Int) -> String {
    Fit.truncate(text, to: max(1, columns))
  }

  var isShown: Bool { shown != nil }

  mutating func show(
    _ state: State, _ size: WindowSize, onLastRow: Bool, isInSequence: Bool
  ) -> String {
    if isSilent && state != .escapes { return "" }
    let text = Self.text(state, host: host)
    if text == shown { return "" }
    shown = text
    isOnLastRow = onLastRow
    return onLastRow
      ? Self.onLastRow(text, size, isInSequence: isInSequence) : Self.here(text, size)
  }

  mutating func clear(_ size: WindowSize) -> String {
    defer { shown = nil }
    guard shown != nil else { return "" }
    return isOnLastRow
      ? Self.onLastRow("", size, isInSequence: false) : Self.here("", size)
  }

  /// It is drawn again in any case: the screen is another one.
  mutating func forget() { shown = nil }

  /// When the countdown to a time shows another second.
  func nextChange(until: Double, now: Double) -> Double {
    if isSilent { return until }
    return until - max(0, (until - now).rounded(.up) - 1)
  }
}
