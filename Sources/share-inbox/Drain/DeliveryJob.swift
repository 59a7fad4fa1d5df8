import Core
import Shell

/// `drain` and `watch`: who takes the files, and what becomes of it.
struct DeliveryJob {
  let options: InboxOptions
  let output: ItemOutput
  let diagnostics: Diagnostics

  /// - Parameter host: as written; nil for the configured default.
  /// - Returns: what the command returns.
  func run(_ folder: InboxFolder, host: String?, _ settings: Settings) throws -> Int32 {
    let handover = try handover(host, settings)
    EndSignals.watch()
    let said = Said()
    func drain(_ folder: InboxFolder) -> Drain {
      Drain(
        folder: folder, options: options, output: output, diagnostics: diagnostics,
        handover: handover, said: said)
    }
    if case .watch = options.job {
      return try InboxWatch(
        folder, host: handover as? HostHandover, diagnostics: diagnostics, makeDrain: drain
      ).run()
    }
    let result = try drain(folder).run(saysForeign: true)
    guard let failure = result.failure else { return result.status }
    if let signal = failure.signal { Process.die(by: signal) }
    for line in failure.warning { diagnostics.say(line) }
    if failure.warning.isEmpty {
      let waiting = result.left == 1 ? "1 file stays" : "\(result.left) files stay"
      diagnostics.say("\(failure.what): \(failure.reason); \(waiting) queued")
    }
    return failure.status
  }

  private func handover(_ host: String?, _ settings: Settings) throws -> any Handover {
    switch options.target {
    case .command(let command): return CommandHandover(command)
    case .local:
      return HostHandover(
        options, name: "this machine", session: options.session ?? SessionName.base
      ) { LocalLink() }
    case .host:
      var request = try request(host, settings)
      let memory = try? SessionMemory.load(SessionMemory.path(for: request))
      let session =
        options.session ?? memory?.last
        ?? request.destination.section?.session ?? SessionName.base
      request.note = { [diagnostics] in diagnostics.note($0) }
      request.tell = { [diagnostics] in diagnostics.say($0) }
      request.ask = { Prompt.ask($0) }
      return HostHandover(options, name: request.destination.name, session: session) {
        [request] in Connector.link(for: request, now: Clock.monotonic)
      }
    }
  }

  private func request(_ host: String?, _ settings: Settings) throws -> LinkRequest {
    do throws(TargetError) {
      return try LinkRequest.make(host: host, options: options.connect, settings: settings)
    } catch {
      diagnostics.fail(error, InboxOptions.table)
    }
  }
}
