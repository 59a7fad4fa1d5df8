import Agent
import CLibc
import Core
import Records

/// clip-transcribe(1): what was said in a clip.
public func clipTranscribeMain() {
  ClipOptions.table.run(ClipOptions(), verbose: \.isVerbose, run)
}

private func run(_ options: ClipOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  let said: String
  let clip: Clip
  if let command = options.command {
    clip = try Clip(options.file, limit: BoundedFile.largest)
    said = try text(of: clip, by: command, timeout: options.timeout)
  } else {
    // Whoever has no server learns that before a clip is read.
    let agent = try AgentAccess(
      options.access, for: .clips, connectTimeout: min(options.timeout, 10),
      maxTime: options.givenTimeout, diagnostics: diagnostics)
    clip = try Clip(options.file, limit: RiffClips.largest)
    guard let format = options.format ?? clip.format else {
      throw Failure(clip.name, "not a WAV, m4a, Ogg or AAC file; see --format")
    }
    said = try RiffClips(agent, timeout: options.timeout, diagnostics: diagnostics)
      .text(of: clip.bytes, format: format, time: clip.time)
  }
  // A recogniser breaks lines where it likes; a person said one thing.
  let text = said.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  if text.isEmpty { return .negative }
  try write(text, clip, options)
  return .success
}

private func write(_ text: String, _ clip: Clip, _ options: ClipOptions) throws(WriteFailure) {
  let writer = RecordWriter()
  switch options.form {
  case .json:
    try writer.write(
      RecordText(.transcript).string("text", text).string("format", options.format ?? clip.format)
        .number("bytes", clip.bytes.count).time(clip.time).line)
  case .text:
    // It is somebody's word, and may stand at a prompt next.
    try writer.write(Visible.line(text) + "\n")
  }
  try writer.flush()
}

/// The most that a recogniser says, bytes: more is no speech.
private let mostOfText = 1 << 20

/// What a recogniser on this machine hears in a clip.
///
/// - Parameters:
///   - command: for sh(1).
///   - timeout: seconds.
func text(of clip: Clip, by command: String, timeout: Double) throws -> String {
  // Nothing of the clip stays behind, whatever ends us.
  EndSignals.watch(withQuit: true)
  // Whatever a recogniser takes, it takes files; one that was piped in gets a name.
  let scratch = try clip.path == nil ? ScratchFile(clip) : nil
  defer { scratch?.remove() }
  let file = scratch?.path ?? clip.path ?? ""
  // A name in front of which no option is seen.
  let name = file.hasPrefix("-") ? "./" + file : file
  let run = CommandRun(["sh", "-c", command, "sh", name], limit: mostOfText, timeout: timeout)
  do throws(CommandRun.Failure) {
    return String(decoding: try run.output(), as: UTF8.self)
  } catch {
    switch error {
    case .interrupted(let signal):
      scratch?.remove()
      Process.die(by: signal)
    case .late:
      throw Failure(
        "--command", "no text in \(Int(timeout.rounded(.up))) s; see --timeout", .temporary)
    case .tooLong(let limit): throw Failure("--command", "more than \(limit) bytes of text")
    default: throw Failure("--command", error.reason)
    }
  }
}

/// A clip that came on standard input, where only a file will do; nobody else can read it.
private struct ScratchFile {
  let path: String
  private let folder: String

  init(_ clip: Clip) throws(Failure) {
    let place = Process.environment("TMPDIR") ?? "/tmp"
    guard let made = temporaryFolder(beside: "\(place)/clip") else {
      throw Failure(place, systemReason(systemError))
    }
    folder = made
    path = "\(folder)/clip.\(clip.format ?? "wav")"
    do throws(Failure) { try StateFile(path: path).replace(with: clip.bytes) } catch {
      remove()
      throw error
    }
  }

  func remove() {
    unlink(path)
    rmdir(folder)
  }
}
