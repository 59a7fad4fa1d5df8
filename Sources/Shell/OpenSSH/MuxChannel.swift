import CLibc
import Core

/// A remote command without a terminal, over a master. It waits for one that is still
/// on its way.
final class MuxChannel: Channel {
  /// What the link must do about a channel.
  enum Need: Equatable {
    case nothing
    /// No master takes it (any more); nothing has reached the host.
    case master
    /// The host grants no session on the master's connection, and has not for a while.
    case session
    /// The master's link is dead: end that process, and see `abandon`.
    case kill(pid_t)
  }

  private(set) var ending: Ending?
  /// How often it has been sent on its way.
  private(set) var attempts = 0
  /// Whether the master said no: nothing has reached the host.
  private(set) var isRefused = false
  /// How long it waits, seconds, where the host grants no session: it frees one of its
  /// MaxSessions only a moment after the command has ended.
  var waiting = 0.0
  /// When it is to be sent again.
  private(set) var nextTry: Double?
  private var lastTry: Double?
  private let command: String
  private var connection: MuxConnection?
  private var input: Int32 = -1
  private var output: Int32 = -1
  private var error: Int32 = -1
  private var isOutputOver = false
  private var isErrorOver = false
  private var isOutputWaiting = false
  private var isErrorWaiting = false
  private var isFull = false
  private var isInputOver = false
  private var asked = 0.0
  private var heard = 0.0
  private var patience = 0.0

  init(_ command: String) { self.command = command }

  /// One that cannot be.
  init(failing failure: HostFailure) {
    command = ""
    ending = .failed(failure)
  }

  var isStarted: Bool { hasOpened }
  var isDrained: Bool { true }
  var room: Int { input < 0 || isFull ? 0 : 65536 }
  var isWaitingForMaster: Bool { connection == nil && ending == nil && nextTry == nil }
  private var hasOpened = false

  /// Goes over a master.
  ///
  /// - Parameters:
  ///   - contact: a connection to the master at this path, of which nothing was asked yet.
  ///   - patience: seconds in which the host must answer.
  /// - Returns: false when none listens at this path.
  func start(
    _ path: String, over contact: MuxConnection? = nil, patience: Double, now: Double
  ) -> Bool {
    var pipes: [[Int32]] = []
    for number in 0..<3 {
      var ends: [Int32] = [-1, -1]
      guard clibc_pipe(&ends, number == 0 ? 1 : 0) == 0 else {
        let reason = systemReason(systemError)
        for end in pipes.flatMap({ $0 }) { CLibc.close(end) }
        end(.failed(.local(why: "pipe: \(reason)")))
        return true
      }
      pipes.append(ends)
    }
    let theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
    let ours = [pipes[0][1], pipes[1][0], pipes[2][0]]
    contact?.advance()
    if let contact, contact.phase == .asked {
      contact.ask(command, theirs)
      connection = contact
    } else if let fresh = MuxConnection(path, command, theirs) {
      connection = fresh
    } else {
      for end in pipes.flatMap({ $0 }) { CLibc.close(end) }
      return false
    }
    attempts += 1
    nextTry = nil
    (isOutputOver, isErrorOver) = (false, false)
    (isOutputWaiting, isErrorWaiting) = (false, false)
    (input, output, error) = (ours[0], ours[1], ours[2])
    if isInputOver { closeInput() }
    asked = now
    heard = now
    self.patience = patience
    return true
  }

  /// When the host must have answered.
  var limit: Double { asked + patience }

  var deadline: Double? {
    guard ending == nil, let connection else { return ending == nil ? nextTry : nil }
    // Nothing wakes the loop any more.
    if connection.phase == .gone { return 0 }
    return hasOpened ? nil : limit
  }

  func wants(_ set: inout PollSet) {
    guard ending == nil, let connection else { return }
    connection.wants(&set)
    if !isOutputOver, !isOutputWaiting { set.add(output) }
    if !isErrorOver, !isErrorWaiting { set.add(error) }
    if isFull { set.add(input, reading: false, writing: true) }
  }

  func advance(_ set: PollSet, now: Double) -> Need {
    guard ending == nil, let connection else { return .nothing }
    connection.advance()
    if set.isReadable(output) { isOutputWaiting = true }
    if set.isReadable(error) { isErrorWaiting = true }
    if isOutputWaiting || isErrorWaiting { heard = now }
    isFull = false
    switch connection.phase {
    case .asked:
      if now < limit { return .nothing }
      guard let master = connection.master else {
        // Not even the master answers: it is stopped, or hangs.
        return .master
      }
      return .kill(master)
    case .opened: hasOpened = true
    case .exited: hasOpened = true
    case .refused(let why):
      if waiting > 0, why.holds("refused by peer") {
        let last = lastTry ?? now + waiting
        lastTry = last
        attempts = 0
        closeEnds()
        guard now < last else {
          lastTry = nil
          return .session
        }
        nextTry = now + 0.05
        return .nothing
      }
      isRefused = true
      end(.failed(.linkLost(why: "the master says: \(why)")))
    case .gone: if !hasOpened { return .master }
    }
    finishIfOver()
    return .nothing
  }

  /// How long ago anything came.
  func silence(_ now: Double) -> Double { now - heard }

  /// Whether the master hung up without a status.
  var isCut: Bool { hasOpened && connection?.phase == .gone && isRead }

  private var isRead: Bool { isOutputOver && isErrorOver }

  /// The master has been killed, or is gone.
  ///
  /// - Returns: whether the host never heard of the command, so that it may go over
  ///   another one.
  func abandon() -> Bool {
    let deadline = Clock.monotonic + 1
    while let connection, connection.phase == .asked, Clock.monotonic < deadline {
      // Its last words may be on their way; the end of them is the proof.
      var set = PollSet()
      connection.wants(&set)
      set.wait(seconds: 0.1)
      connection.advance()
    }
    guard case .gone = connection?.phase, !hasOpened else { return false }
    closeEnds()
    return true
  }

  /// It has ended; the first reason stays.
  func end(_ ending: Ending) {
    self.ending = self.ending ?? ending
    closeEnds()
  }

  func read(_ buffer: inout [UInt8], atMost limit: Int) -> Int {
    guard ending == nil, output >= 0, !isOutputOver else { return 0 }
    isOutputWaiting = false
    let count = PipeEnd.take(output, &buffer, atMost: limit)
    if count < 0 { isOutputOver = true }
    finishIfOver()
    return max(count, 0)
  }

  func readError(_ buffer: inout [UInt8], atMost limit: Int) -> Int {
    guard ending == nil, error >= 0, !isErrorOver else { return 0 }
    isErrorWaiting = false
    let count = PipeEnd.take(error, &buffer, atMost: limit)
    if count < 0 { isErrorOver = true }
    finishIfOver()
    return max(count, 0)
  }

  func write(_ bytes: ArraySlice<UInt8>) -> Int {
    guard ending == nil, input >= 0, !isFull, !bytes.isEmpty else { return 0 }
    let count = PipeEnd.give(input, bytes)
    if count >= 0 { return count }
    // One that does not read: its end tells how it was.
    if systemError != EAGAIN && systemError != EINTR { return bytes.count }
    isFull = true
    return 0
  }

  func finishWriting() {
    isInputOver = true
    closeInput()
  }

  func resize(_ size: WindowSize) {}

  func close() { end(.failed(.closed)) }

  func finishIfOver() {
    guard ending == nil, isRead, case .exited(let status) = connection?.phase else { return }
    end(.remoteExit(status: status))
  }

  private func closeInput() {
    if input >= 0 { CLibc.close(input) }
    input = -1
  }

  private func closeEnds() {
    connection?.close()
    connection = nil
    closeInput()
    for end in [output, error] where end >= 0 { CLibc.close(end) }
    (output, error) = (-1, -1)
  }

  deinit { closeEnds() }
}
