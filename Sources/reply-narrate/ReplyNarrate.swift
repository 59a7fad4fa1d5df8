import Core

/// reply-narrate(1): says what an agent answered.
public enum ReplyNarrate {
  /// Does what the command line asks for, and leaves.
  public static func main() {
    let table = NarrateOptions.table
    let options = table.parseOrExit(NarrateOptions())
    let diagnostics = Diagnostics(program: "reply-narrate", verbose: options.isVerbose)
    do {
      if options.isServer {
        let loop = try ServerLoop(options, diagnostics)
        Process.exit(try loop.run())
      }
      let loop = try NarrateLoop(options, diagnostics)
      Process.exit(try loop.run())
    } catch {
      diagnostics.fail(error, table.usage)
    }
  }
}
