import CLibc
import Core

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
