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
