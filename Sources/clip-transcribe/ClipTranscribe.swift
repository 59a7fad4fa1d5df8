import Agent
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
