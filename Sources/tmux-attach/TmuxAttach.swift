import CLibc
import Core
import Screen
import Shell

/// tmux-attach(1): the agent's terminal on another machine.
public func tmuxAttachMain() {
  AttachOptions.table.run(AttachOptions(), verbose: \.verbose) {
    Process.exit(code: try run($0, $1))
  }
}

private func run(_ options: AttachOptions, _ diagnostics: Diagnostics) throws -> Int32 {
  switch options.job {
  case .attach: try AttachCommand.run(options, diagnostics)
  case .list, .watch, .new, .close, .reconcile, .type, .capture, .asks, .decide:
    try ManageCommand.run(options, diagnostics)
  case .fingerprint, .forget, .authorize, .check: try KeysCommand.run(options, diagnostics)
  }
}

extension AttachOptions {
  func request(_ diagnostics: Diagnostics) throws -> LinkRequest {
    var request = try LinkRequest.make(
      host: host, options: connect, settings: Settings(diagnostics: diagnostics))
    if request.destination.isHere, job == .fingerprint || job == .forget {
      throw UsageError("this machine has no key: no network is between")
    }
    request.note = { diagnostics.note($0) }
    request.tell = { diagnostics.say($0) }
    request.ask = { Prompt.ask($0) }
    return request
  }
}
