import CLibc
import Core
import Screen
import Shell

/// tmux-attach(1): the agent's terminal on another machine.
public func tmuxAttachMain() {
  AttachOptions.table.run(AttachOptions(), verbose: \.verbose) { options, diagnostics in
    let status =
      switch options.job {
      case .attach: try attach(options, diagnostics)
      case .list, .watch, .new, .close, .reconcile, .type, .capture, .asks, .decide:
        try manage(options, diagnostics)
      case .fingerprint: try showFingerprint(options, diagnostics).rawValue
      case .forget: try forgetHost(options, diagnostics).rawValue
      case .authorize: try authorize(options, diagnostics).rawValue
      case .check: try check(options, diagnostics)
      }
    Process.exit(code: status)
  }
}

extension AttachOptions {
  func request(_ diagnostics: Diagnostics) throws -> LinkRequest {
    let request = try LinkRequest.make(
      host: host, options: connect, settings: Settings(diagnostics: diagnostics),
      diagnostics: diagnostics)
    if request.destination.isHere, job == .fingerprint || job == .forget {
      throw UsageError("this machine has no key: no network is between")
    }
    return request
  }
}
