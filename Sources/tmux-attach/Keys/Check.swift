import Core
import Shell

/// `--check`: goes the way of an attach up to the door of the session.
enum Check {
  /// - Returns: the exit status: 0 when everything is in place.
  static func run(
    _ options: AttachOptions, _ diagnostics: Diagnostics
  ) throws(TargetError) -> Int32 {
    var request = try KeysCommand.request(options, diagnostics)
    // The report tells of a new key.
    request.tell = request.note
    request.isFresh = true
    let section = request.destination.section
    let harness = words(options.harness ?? section?.harness ?? "")
    do throws(SettingsError) {
      let report = try look(request, options, harness: harness, diagnostics)
      KeysCommand.write(report.lines.map(\.text), diagnostics)
      return report.status
    } catch {
      throw .settings(error)
    }
  }

  private static func look(
    _ request: LinkRequest, _ options: AttachOptions, harness: String, _ diagnostics: Diagnostics
  ) throws(SettingsError) -> CheckReport {
    let place = try request.hostKeyPlace()
    var report = CheckReport()
    let before: [HostKey]
    do throws(SettingsError) {
      before = try PinFile(path: request.pins).keys(host: place.host, port: place.port)
    } catch {
      report.bad("host key", error.message, error.status.rawValue)
      return report
    }
    let link = Connector.link(for: request, now: Clock.monotonic)
    defer { link.close() }
    let calls = HostCalls(link, maxTime: options.maxTime)
    do throws(ControlFailure) {
      try calls.connect()
      report.good("reach", "\(place.name), by \(link.transport.rawValue)")
      report.good("host key", try hostKey(request, place, before))
      report.good("our key", "accepted\(request.destination.user.map { " for \($0)" } ?? "")")
      let word = firstWord(harness)
      let answer = try calls.call(CheckReport.request(word: word))
      report.take(answer.text, harness: harness, word: word)
    } catch {
      if case .link(let ending) = error, report.lines.isEmpty {
        if case .hostKeyChanged(let lines) = ending { for line in lines { diagnostics.say(line) } }
        report.take(
          ending, host: options.host ?? request.destination.name, place: place.name,
          hostKey: (try? hostKey(request, place, before)) ?? "accepted")
      } else {
        report.bad("login", "\(error.words); what do the shell's login files do?", error.exitStatus)
      }
    }
    return report
  }

  /// What became of the host's key.
  private static func hostKey(
    _ request: LinkRequest, _ place: HostKeyPlace, _ before: [HostKey]
  ) throws(ControlFailure) -> String {
    let now: [HostKey]
    do throws(SettingsError) {
      now = try PinFile(path: request.pins).keys(host: place.host, port: place.port)
    } catch {
      throw .local(why: error.message)
    }
    let shown = now.map { "\($0.kind) \($0.fingerprint)" }.joined(separator: ", ")
    if !before.isEmpty { return "\(shown), as pinned" }
    if !now.isEmpty { return "\(shown), new and pinned now: compare it on the host" }
    return request.options.knownHosts.map { "known to \($0)" } ?? "known"
  }

  private static func words(_ text: String) -> String {
    text.utf8.allSatisfy { $0 == 0x20 || $0 == 9 } ? "claude" : text
  }

  /// The program's name where it is a plain one: the line is the user's, for the host's
  /// shell, and is not run to find out.
  static func firstWord(_ harness: String) -> String? {
    let words = harness.split { $0 == " " || $0 == "\t" }
    guard let word = words.first else { return nil }
    if word == "$SHELL" { return "$SHELL" }
    let rest = word.hasPrefix("~/") ? word.dropFirst(2) : word
    let plain = Array("/._-+@%,:".utf8)
    let isPlain = rest.utf8.allSatisfy {
      0x30...0x39 ~= $0 || 0x41...0x5a ~= $0 || 0x61...0x7a ~= $0 || plain.contains($0)
    }
    return isPlain && !rest.isEmpty ? String(word) : nil
  }
}
