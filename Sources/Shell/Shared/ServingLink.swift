import Core

/// A terminal's connection that other processes of the user may share: it serves them
/// from when the terminal runs until it ends.
final class ServingLink: Link {
  private let request: LinkRequest
  private let link: any Link
  private var server: LinkServer?
  private var hasTried = false
  private weak var terminal: (any Channel)?

  init(_ link: any Link, _ request: LinkRequest) {
    self.link = link
    self.request = request
  }

  deinit { close() }

  var state: LinkState { link.state }
  var transport: TransportName { link.transport }
  var deadline: Double? { server?.hasMore == true ? 0 : link.deadline }

  func wants(_ set: inout PollSet) {
    link.wants(&set)
    server?.wants(&set)
  }

  func advance(_ set: PollSet, now: Double) {
    link.advance(set, now: now)
    // The terminal comes first: the host may grant no more than that.
    if !hasTried, case .ready = link.state, terminal?.isStarted == true { serve(now) }
    server?.advance(set, link, now: now)
    if case .ended = link.state { stop() }
  }

  func openTerminal(_ command: String, size: WindowSize, term: String) -> any Channel {
    let channel = link.openTerminal(command, size: size, term: term)
    terminal = channel
    return channel
  }

  func run(_ command: String) -> any Channel { link.run(command) }

  func close() {
    stop()
    link.close()
  }

  private func serve(_ now: Double) {
    hasTried = true
    do throws(SettingsError) {
      server = try LinkServer(request, now: now)
    } catch {
      request.note("the connection is not shared: \(error.message)")
    }
  }

  private func stop() {
    server?.close()
    server = nil
  }
}
