import Core

/// reply-narrate(1): says what an agent answered.
public func replyNarrateMain() {
  NarrateOptions.table.run(NarrateOptions(), verbose: \.isVerbose) { options, diagnostics in
    if options.isServer { return try ServerLoop(options, diagnostics).run() }
    return try NarrateLoop(options, diagnostics).run()
  }
}
