import CLibc
import Core
import Shell

/// Sits down at a session of this machine: tmux does it itself, at the user's terminal.
enum HereAttach {
  static func run(
    _ options: AttachOptions, _ start: SessionStart, _ request: LinkRequest,
    _ diagnostics: Diagnostics
  ) throws -> Int32 {
    guard isatty(0) == 1, isatty(1) == 1 else {
      throw UsageError("standard input and output must be a terminal")
    }
    // tmux would say so, too, but only when the session has been made.
    guard Process.environment("TMUX") == nil else {
      throw UsageError("this terminal is tmux's already (unset TMUX to nest)")
    }
    let visit = HostVisit(options, diagnostics, request)
    do throws(HostFailure) {
      if try !visit.tmux.sessions().contains(where: { $0.name == start.name }) {
        try make(start, visit.tmux)
      }
    } catch {
      return visit.fail(error)
    }
    visit.calls.close()
    try? SessionMemory.update(visit.memoryPath) { $0.used(start.name) }
    let target = ShellWord.tmuxArgument("=" + start.name)
    // Its end takes the terminal to no other session.
    become(
      ["tmux", "-u", "-L", request.label, "attach-session", "-t", target, ";"]
        + ["set-option", "-qt", "=\(start.name):", "detach-on-destroy", "on"])
    diagnostics.error("tmux", systemReason(systemError))
    return ExitStatus.failure.rawValue
  }

  private static func make(_ start: SessionStart, _ tmux: RemoteTmux) throws(HostFailure) {
    do throws(HostFailure) {
      _ = try tmux.new(start)
    } catch {
      // Another one was quicker.
      guard case .duplicate = error else { throw error }
    }
  }

  /// Gives this process to a program, found in PATH. Comes back only when that fails.
  private static func become(_ words: [String]) {
    var arguments = words.map { strdup($0) } + [nil]
    clibc_keep_others_private()
    _ = execvp(words[0], &arguments)
    for argument in arguments { free(argument) }
  }
}
