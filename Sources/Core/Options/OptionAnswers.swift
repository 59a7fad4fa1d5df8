extension OptionTable {
  /// Reads the command line of the process and answers `--help`, `--version`
  /// and `--completions`; a mistake ends the process with the usage, status 2.
  public func parseOrExit() -> ParsedOptions {
    StandardFiles.ensure()
    let diagnostics = Diagnostics(program: program)
    do throws(UsageError) {
      let parsed = try parse(Process.arguments)
      for item in parsed.items {
        switch item.name {
        case "help": answer(help, diagnostics)
        case "version": answer("\(program) \(suiteVersion)\n", diagnostics)
        case "completions":
          guard let text = completions(shell: item.value) else {
            throw UsageError("--completions \(item.value): not bash, zsh, fish or list")
          }
          answer(text, diagnostics)
        default: break
        }
      }
      return parsed
    } catch {
      diagnostics.usage(error.problem, self)
    }
  }

  private func answer(_ text: String, _ diagnostics: Diagnostics) -> Never {
    do throws(WriteFailure) {
      let writer = RecordWriter()
      try writer.write(text)
      try writer.flush()
    } catch {
      diagnostics.fail(writing: error)
    }
    Process.exit(.success)
  }
}
