import Core
import Shell

/// A host whose sessions are looked after: how it is reached, what is remembered of
/// it, and the link while there is one.
final class HostVisit {
  let options: AttachOptions
  let diagnostics: Diagnostics
  let request: LinkRequest
  /// The file of `SessionMemory`.
  let memoryPath: String
  private(set) var calls: HostCalls?
  private let makeLink: (LinkRequest, Double) -> any Link

  init(
    _ options: AttachOptions, _ diagnostics: Diagnostics, _ request: LinkRequest,
    makeLink: @escaping (LinkRequest, Double) -> any Link
  ) {
    self.options = options
    self.diagnostics = diagnostics
    self.request = request
    self.makeLink = makeLink
    memoryPath = SessionMemory.path(for: request)
  }

  /// The session that is meant where none is named.
  var base: String { request.destination.section?.session ?? SessionName.base }

  /// The session that the options mean.
  var session: String { options.session ?? base }

  /// Begins with a new link; an old one is given up.
  ///
  /// - Returns: the host's tmux. The link need not be ready.
  func open() -> RemoteTmux {
    calls?.link.close()
    let calls = HostCalls(
      makeLink(request, Clock.monotonic), maxTime: options.maxTime, wake: EndSignals.descriptor,
      signal: EndSignals.next)
    self.calls = calls
    return RemoteTmux(calls, label: request.options.label)
  }

  /// Gives the link up.
  func close() {
    calls?.link.close()
    calls = nil
  }

  /// Says why the host did not do it, and what status that is. A signal ends the
  /// process here.
  func fail(_ error: TmuxError) -> Int32 {
    close()
    switch error {
    case .call(.interrupted(let signal)): Process.die(by: signal)
    case .call(.link(.hostKeyChanged(let lines))): for line in lines { diagnostics.say(line) }
    case .noSession where options.quiet: break
    default: diagnostics.error(request.destination.name, error.words)
    }
    return error.exitStatus
  }
}
