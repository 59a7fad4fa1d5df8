import CLibc
import Core

/// Why a recogniser of this machine gave no text.
struct RecogniserFailure: Reported {
  let message: String
  let status: ExitStatus
}

/// A command of the user's that makes text of a clip.
struct Recogniser {
  private let command: String
  private let timeout: Double

  /// More is no speech, bytes.
  private static let mostOfText = 1 << 20
  /// How long is waited for the end of its output when it has ended, seconds: what it started in
  /// the background may hold that open.
  private static let grace = 1.0

  /// - Parameters:
  ///   - command: for sh(1); `$1` is the clip's file, standard output the text.
  ///   - timeout: seconds.
  init(_ command: String, timeout: Double) {
    self.command = command
    self.timeout = timeout
  }

  /// - Throws: `RecogniserFailure`; `SettingsError` when the clip cannot be put into a file.
  func text(of clip: Clip) throws -> String {
    // Whatever a recogniser takes, it takes files; one that was piped in gets a name.
    EndSignals.watch()
    // It would end us alone: the recogniser is in a group of its own.
    if !clibc_signal_is_ignored(SIGQUIT) { _ = clibc_signals_watch(SIGQUIT) }
    let scratch = try clip.path == nil ? ScratchFile(clip) : nil
    defer { scratch?.remove() }
    let file = scratch?.path ?? clip.path ?? ""
    // A name in front of which no option is seen.
    let name = file.hasPrefix("-") ? "./" + file : file
    let child: ChildProcess
    do throws(ChildProcess.Failure) {
      child = try ChildProcess(["sh", "-c", command, "sh", name], leadsGroup: true)
    } catch {
      throw failure(error.words)
    }
    let deadline = Clock.monotonic + timeout
    let printed = try output(of: child, deadline, scratch)
    // Its output may have ended long before it does.
    while !child.reap() { try pause(for: child, -1, seconds: 0.02, deadline, scratch) }
    guard child.waitStatus == 0 else {
      let how =
        child.endSignal.map { "ended by signal \($0)" }
        ?? "ended with status \(child.exitStatus ?? 0)"
      throw failure(how)
    }
    return String(decoding: printed, as: UTF8.self)
  }

  private func output(
    of child: ChildProcess, _ deadline: Double, _ scratch: ScratchFile?
  ) throws(RecogniserFailure) -> [UInt8] {
    var printed: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    var end = Double.infinity
    while Clock.monotonic < end {
      let isReady = try pause(for: child, child.output, seconds: 0.1, deadline, scratch)
      if end == .infinity, child.reap() { end = Clock.monotonic + Self.grace }
      guard isReady else { continue }
      let count = read(child.output, &buffer, buffer.count)
      if count == 0 { return printed }
      if count < 0 {
        if systemError == EAGAIN || systemError == EINTR { continue }
        throw failure(systemReason(systemError))
      }
      printed += buffer[..<count]
      if printed.count > Self.mostOfText {
        child.kill(SIGKILL)
        throw failure("more than \(Self.mostOfText) bytes of text")
      }
    }
    return printed
  }

  /// Waits a while for it. A signal ends both, and nothing of the clip stays behind.
  ///
  /// - Returns: whether there is something to read.
  @discardableResult
  private func pause(
    for child: ChildProcess, _ output: Int32, seconds: Double, _ deadline: Double,
    _ scratch: ScratchFile?
  ) throws(RecogniserFailure) -> Bool {
    let left = deadline - Clock.monotonic
    if left <= 0 {
      child.kill(SIGKILL)
      throw failure(
        "no text in \(Int(timeout.rounded(.up))) s; see --timeout", ExitStatus.temporary)
    }
    var entries = [
      pollfd(fd: output, events: Int16(POLLIN), revents: 0),
      pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    _ = poll(&entries, 2, Int32(min(left, seconds) * 1000 + 1))
    if let signal = EndSignals.next() {
      child.kill(signal)
      scratch?.remove()
      Process.die(by: signal)
    }
    return entries[0].revents != 0
  }

  private func failure(_ reason: String, _ status: ExitStatus = .failure) -> RecogniserFailure {
    RecogniserFailure(message: "--command: \(reason)", status: status)
  }
}

/// A clip that came on standard input, where only a file will do; nobody else can read it.
private struct ScratchFile {
  let path: String
  private let folder: String

  init(_ clip: Clip) throws(SettingsError) {
    let place = Process.environment("TMPDIR") ?? "/tmp"
    guard let made = temporaryFolder(beside: "\(place)/clip") else {
      throw SettingsError(place, systemReason(systemError))
    }
    folder = made
    path = "\(folder)/clip.\(clip.format ?? "wav")"
    let file = clibc_create(path)
    guard file >= 0 else { throw SettingsError(folder, systemReason(systemError)) }
    defer { close(file) }
    let writer = RecordWriter(descriptor: file)
    do throws(WriteFailure) {
      try writer.write(clip.bytes)
      try writer.flush()
    } catch {
      remove()
      throw SettingsError(path, systemReason(error.code))
    }
  }

  func remove() {
    unlink(path)
    rmdir(folder)
  }
}
