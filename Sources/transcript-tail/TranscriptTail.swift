import CLibc
import Core
import Shell

/// transcript-tail(1): follows a coding agent's own transcripts.
public func transcriptTailMain() {
  TranscriptOptions.table.run(TranscriptOptions(), verbose: \.isVerbose) { options, diagnostics in
    try run(options, diagnostics)
  }
}

private func run(
  _ options: TranscriptOptions, _ diagnostics: Diagnostics
) throws -> ExitStatus {
  switch try TranscriptPlace(options.place, home: Folders().home) {
  case .here(let path):
    if let name = options.ofHost { throw UsageError("--\(name) is for a host") }
    if let hint = hint(path) { throw Failure(path, systemReason(ENOENT) + hint) }
    // Of what is added from now on, the first may be the first of all.
    let isAwaited = options.place == nil && options.wishes.new
    if options.place == nil, stat(following: path) == nil, systemError == ENOENT {
      guard isAwaited else {
        throw Failure(path, systemReason(ENOENT) + ": name a file, a folder or HOST:")
      }
      if !options.isQuiet { diagnostics.tellPerson("\(path): not there yet: waits for it") }
    }
    let place = absolute(path)
    if let status = stat(following: place) {
      guard status.isFolder || status.isRegular else {
        throw Failure(place, "not a file or folder")
      }
    } else if !isAwaited || systemError != ENOENT {
      throw Failure(place, systemReason(systemError))
    }
    return try withState(options, source: place, diagnostics) { plan, output in
      try LocalFollow(place, plan, output, once: options.once).run()
    }
  case .host(let name, let path):
    if ShellWord.holdsControls(path) {
      throw Failure("\(name):\(path)", "a path on a host cannot hold control characters")
    }
    var request = try LinkRequest.make(
      host: name, options: options.connect, settings: Settings(diagnostics: diagnostics),
      diagnostics: diagnostics)
    request.connectTimeout = options.connect.maxTime
    return try withState(options, source: "\(name):\(path)", diagnostics) {
      [request] plan, output in
      do {
        return try HostFollow(request, path: path, plan, output, options).run()
      } catch let failure as HostFailure {
        for line in failure.lines(of: request.destination.name) { diagnostics.say(line) }
        return ExitStatus(rawValue: failure.exitStatus) ?? .failure
      }
    }
  }
}

/// What may have been meant: a host, whose colon was forgotten. Nil for a file that is there.
private func hint(_ name: String) -> String? {
  if name.contains("/") || stat(following: name) != nil { return nil }
  return NearestWord.hint(for: name, among: CompletionNames.hostNames().map { $0 + ":" })
}

/// Does something with the state of the place, which is nobody else's meanwhile.
private func withState(
  _ options: TranscriptOptions, source: String, _ diagnostics: Diagnostics,
  _ follow: (FollowPlan, TranscriptOutput) throws -> ExitStatus
) throws -> ExitStatus {
  EndSignals.watch()
  guard let path = options.state else {
    return try follow(
      FollowPlan(options.wishes), TranscriptOutput(options, state: nil, diagnostics))
  }
  return try FileLock.hold(beside: path, seconds: 0) { () throws(Failure) in
    let state = try TranscriptState(path: path, source: source)
    let plan = FollowPlan(options.wishes, resuming: state.marks)
    let output = TranscriptOutput(options, state: state, diagnostics)
    return Result { try follow(plan, output) }
  }.get()
}

/// A path as one that means the same wherever we are, without slashes at its end.
private func absolute(_ path: String) -> String {
  var path = path
  while path.hasSuffix("/"), path != "/" { path.removeLast() }
  guard !path.hasPrefix("/"), let folder = currentFolder() else { return path }
  return path == "." ? folder : Folders.join(folder, path)
}
