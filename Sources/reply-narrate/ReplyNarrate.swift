import Core

/// reply-narrate(1): says what an agent answered.
public enum ReplyNarrate {
  /// Does what the command line asks for, and leaves.
  public static func main() {
    NarrateOptions.table.run(NarrateOptions(), verbose: { $0.isVerbose }) { options, diagnostics in
      if options.isServer { return try ServerLoop(options, diagnostics).run() }
      return try NarrateLoop(options, diagnostics).run()
    }
  }
}
