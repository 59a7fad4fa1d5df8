import Core
import Shell

/// Prints lines.
func printLines(_ lines: [String]) throws(WriteFailure) {
  let writer = RecordWriter()
  for line in lines { try writer.write(line + "\n") }
  try writer.flush()
}

// MARK: The host's keys

/// `--fingerprint`: prints the pinned keys of the host.
func showFingerprint(_ options: AttachOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  let request = try options.request(diagnostics)
  let place = try request.hostKeyPlace()
  let keys = try PinFile(path: request.pins).keys(of: place)
  guard !keys.isEmpty else {
    diagnostics.error(place.name, "no key is pinned in \(request.pins)")
    return .negative
  }
  try printLines(keys.map { Visible.line(line($0, place)) })
  return .success
}

/// `--forget`: drops them.
func forgetHost(_ options: AttachOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  let request = try options.request(diagnostics)
  let place = try request.hostKeyPlace()
  let dropped = try PinFile.forget(place, in: request.pins)
  for key in dropped { diagnostics.note("dropped \(line(key, place))") }
  let left = try PinFile(path: request.pins).keys(of: place)
  if !left.isEmpty {
    diagnostics.error(
      place.name, "a pattern in \(request.pins) has a key for it, which was left there")
  }
  if dropped.isEmpty {
    if left.isEmpty { diagnostics.error(place.name, "no key is pinned in \(request.pins)") }
    return .negative
  }
  return .success
}

/// As `ssh-keygen -l` shows it.
private func line(_ key: HostKey, _ place: HostKeyPlace) -> String {
  "\(key.bits) \(key.fingerprint) \(place.name) (\(key.kind))"
}

// MARK: Our own key

/// `--authorize`: prints the line that lets us in, and how to put it there.
func authorize(_ options: AttachOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  let line = try publicLine(options, diagnostics)
  try printLines([line, command(authorizing: line)])
  return .success
}

/// One command for any shell, also where there is no folder yet, or new files are
/// made for the group to write, which sshd does not trust.
func command(authorizing line: String) -> String {
  "mkdir -p -m 700 ~/.ssh && echo '\(line)' >> ~/.ssh/authorized_keys"
    + " && chmod 600 ~/.ssh/authorized_keys"
}

private func publicLine(_ options: AttachOptions, _ diagnostics: Diagnostics) throws -> String {
  let settings = try Settings(diagnostics: diagnostics)
  if let identity = options.connect.identity {
    return try OwnKey.publicLine(of: settings.folders.expandHome(identity))
  }
  if try options.host ?? settings.defaultHost() != nil,
    let identity = try options.request(diagnostics).identity
  {
    return try OwnKey.publicLine(of: identity)
  }
  if options.connect.usesAgent {
    throw Failure(
      "--authorize", "the agent may have several keys: name the one that is meant with -i")
  }
  _ = try settings.folders.stateFile("")
  return try OwnKey.publicLine(of: OwnKey.ensure(in: settings.folders.state))
}

/// What `--check` found: a line for each thing that must be in place, and what to do
/// about one that is not.
struct CheckReport {
  /// What it is about (`reach`, `host key`, `our key`, `tmux`, `harness`), and what was found, and
  /// what to do; that may hold text of the host.
  private(set) var lines: [(isGood: Bool, what: String, says: String)] = []
  /// The exit status of the first thing that failed.
  private(set) var status: Int32 = 0

  var text: [String] {
    lines.map { isGood, what, says in
      let what = what + String(repeating: " ", count: max(1, 10 - what.count))
      return (isGood ? "ok      " : "FAILED  ") + what + Visible.line(says)
    }
  }

  mutating func good(_ what: String, _ says: String) {
    lines.append((true, what, says))
  }

  mutating func bad(_ what: String, _ says: String, _ status: Int32) {
    lines.append((false, what, says))
    if self.status == 0 { self.status = status }
  }

  mutating func receive(_ failure: HostFailure, host: String, place: String, hostKey: String) {
    let (status, reason) = (failure.exitStatus, failure.reason)
    switch failure {
    // Files of keys that cannot be read say nothing of the host.
    case .hostKeyUnknown: bad("host key", reason, status)
    case .hostKeyChanged:
      good("reach", place)
      bad("host key", reason, status)
    case .authFailed(let tried):
      good("reach", place)
      good("host key", hostKey)
      let isEnough = tried.last?.holds(HostFailure.tooManyKeys) == true
      bad(
        "our key",
        isEnough
          ? reason
          : "refused (tried \(tried.joined(separator: ", "))); let it in by what"
            + " tmux-attach --authorize \(host) prints, or sign in with -i, --agent or"
            + " --transport ssh", status)
    case .noCommonAlgorithm:
      bad("reach", "\(reason); try --transport ssh", status)
    case .local: bad("here", reason, status)
    default:
      bad("reach", "\(reason); is the host up, sshd running, \(place) the right place?", status)
    }
  }

  /// What the host says of the programs on its login PATH.
  mutating func receive(_ answer: String, harness: String, word: String?) {
    let rows = answer.split(separator: "\n").map { $0.split(separator: "\t") }
    func row(_ name: Substring) -> [Substring]? { rows.first { $0.first == name } }
    if let tmux = row("tmux"), tmux.count == 3 {
      good("tmux", "\(tmux[2]), \(tmux[1])")
    } else {
      bad(
        "tmux", "not on the PATH of a login shell; install it, or extend PATH in ~/.profile",
        ExitStatus.negative.rawValue)
    }
    if let found = row("harness"), found.count == 2 {
      good("harness", String(found[1]))
    } else if let word {
      bad(
        "harness",
        "\(word) is not on the PATH of a login shell; install it, extend PATH in ~/.profile, "
          + "or name another one with -H", ExitStatus.negative.rawValue)
    } else {
      good("harness", "not looked for: \(harness)")
    }
  }

  /// Asks for tmux, and for a program: `$SHELL`, a path below `~/`, or a name.
  static func request(word: String?) -> ControlRequest {
    ControlRequest(
      """
      if t=$(command -v tmux); then printf 'tmux\\t%s\\t%s\\n' "$t" "$(tmux -V 2>&1)"; fi
      w=$1
      case $w in
      '$SHELL') w=$SHELL ;;
      '~/'*) w=$HOME/${w#??} ;;
      esac
      [ -n "$w" ] && p=$(command -v "$w") && printf 'harness\\t%s\\n' "$p"
      exit 0
      """, [word ?? ""])
  }
}

/// `--check`: goes the way of an attach up to the door of the session.
func check(_ options: AttachOptions, _ diagnostics: Diagnostics) throws -> Int32 {
  var request = try options.request(diagnostics)
  // The report tells of a new key.
  request.tell = request.note
  request.isFresh = true
  let section = request.destination.section
  let harness = options.harness ?? section?.harness ?? ""
  let isNamed = harness.utf8.contains { $0 != 0x20 && $0 != 9 }
  var report = CheckReport()
  try report.look(request, options, harness: isNamed ? harness : "claude", diagnostics)
  try printLines(report.text)
  return report.status
}

extension CheckReport {
  fileprivate mutating func look(
    _ request: LinkRequest, _ options: AttachOptions, harness: String, _ diagnostics: Diagnostics
  ) throws(Failure) {
    let calls = HostCalls(request, maxTime: options.connect.maxTime)
    defer { calls.close() }
    if request.destination.isHere { return programs(calls, harness: harness) }
    let place = try request.hostKeyPlace()
    let before: [HostKey]
    do throws(Failure) {
      before = try PinFile(path: request.pins).keys(of: place)
    } catch {
      return bad("host key", error.message, error.status.rawValue)
    }
    let transport: TransportName
    do throws(HostFailure) {
      transport = try calls.connect().transport
    } catch {
      if case .hostKeyChanged(let lines) = error { for line in lines { diagnostics.say(line) } }
      return receive(
        error, host: options.host ?? request.destination.name, place: place.name,
        hostKey: (try? Self.hostKey(request, place, before)) ?? "accepted")
    }
    good("reach", "\(place.name), by \(transport.rawValue)")
    good("host key", try Self.hostKey(request, place, before))
    good("our key", "accepted\(request.destination.user.map { " for \($0)" } ?? "")")
    programs(calls, harness: harness)
  }

  private mutating func programs(_ calls: HostCalls, harness: String) {
    do throws(HostFailure) {
      let word = Self.firstWord(harness)
      let answer = try calls.call(Self.request(word: word))
      receive(answer.text, harness: harness, word: word)
    } catch {
      bad("login", "\(error.reason); what do the shell's login files do?", error.exitStatus)
    }
  }

  private static func hostKey(
    _ request: LinkRequest, _ place: HostKeyPlace, _ before: [HostKey]
  ) throws(Failure) -> String {
    let now = try PinFile(path: request.pins).keys(of: place)
    let shown = now.map { "\($0.kind) \($0.fingerprint)" }.joined(separator: ", ")
    if !before.isEmpty { return "\(shown), as pinned" }
    if !now.isEmpty { return "\(shown), new and pinned now: compare it on the host" }
    return request.options.knownHosts.map { "known to \($0)" } ?? "known"
  }

  /// The program's name where it is a plain one: the line is the user's, for the host's
  /// shell, and is not run to find out.
  static func firstWord(_ harness: String) -> String? {
    let words = harness.split { $0 == " " || $0 == "\t" }
    guard let word = words.first else { return nil }
    if word == "$SHELL" { return "$SHELL" }
    let rest = word.hasPrefix("~/") ? word.dropFirst(2) : word
    let isPlain = rest.utf8.allSatisfy { $0.isAlphanumeric || "/._-+@%,:".utf8.contains($0) }
    return isPlain && !rest.isEmpty ? String(word) : nil
  }
}
