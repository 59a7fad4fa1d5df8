import CLibc
import Testing

@testable import Core

@Suite struct OptionTableTests {
  private let usage = sampleTable.usage

  @Test func theUsageIsOneLine() {
    #expect(usage.line == "usage: sample [options] [file ...]")
  }

  @Test func theHelpShowsEveryOptionOnce() {
    let lines = usage.help.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.prefix(3) == ["usage: sample [options] [file ...]", "do nothing", ""])
    for option in usage.entries {
      let short = option.letter.map { "-\($0), " } ?? "    "
      let value = option.argument.map { " \($0)" } ?? ""
      let start = "  \(short)--\(option.name)\(value)"
      let matches = lines.filter { $0.hasPrefix(start + "  ") && $0.hasSuffix(option.help) }
      #expect(matches.count == 1)
    }
    #expect(usage.help.hasSuffix("\n"))
  }

  @Test func theHelpIsAligned() {
    let columns = Set(
      zip(usage.sorted, usage.help.split(separator: "\n").dropFirst(2)).map {
        option, line in line.count - option.help.count
      })
    #expect(columns.count == 1)
  }

  @Test func theListHasALineForEachOptionInTheOrderOfTheManual() {
    let expected = """
      -e --event NAME
      -f --file FILE
      -h --help -
      -l --listen HOST:PORT
      -o --output FORM
      -q --quiet -
      -v --verbose -
      -V --version -
      - --completions SHELL
      - --max -
      - --max-retries COUNT
      - --max-time SECONDS

      """
    #expect(usage.completions(shell: "list") == expected)
  }

  @Test func onlyKnownShellsAreServed() {
    for shell in ["", "sh", "BASH", "bash "] {
      #expect(usage.completions(shell: shell) == nil)
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func theScriptsNameEveryOption(shell: String) throws {
    let script = try #require(usage.completions(shell: shell))
    for option in usage.entries {
      #expect(script.contains(shell == "fish" ? "-l \(option.name) " : "--\(option.name)"))
      if let short = option.letter {
        #expect(script.contains(shell == "fish" ? "-s \(short) " : "-\(short)"))
      }
    }
  }

  @Test func zshIsToldWhereArgumentsStandAndWhatTheyAre() throws {
    let script = try #require(usage.completions(shell: "zsh"))
    for line in [
      "#compdef sample",
      "  '*'{-e+,--event=}'[keep events of this name (it'\\''s \\[repeatable\\])]:NAME: ' \\",
      "  '*'{-o+,--output=}'[output form]:FORM:(text json)' \\",
      "  '*'{-l+,--listen=}'[where to listen]:HOST\\:PORT: ' \\",
      "  '*'{-f+,--file=}'[read this]:FILE:_files' \\",
      "  '*'{-q,--quiet}'[say nothing]' \\",
      "  '*'--max-time='[stop after this]:SECONDS: ' \\",
      "  '*'--max'[as it is]' \\",
      "  '*:operand:(activity voice)'",
    ] { #expect(script.split(separator: "\n").contains(Substring(line))) }
  }

  /// zsh itself completes on a terminal of its own.
  @Test func zshOffersWhatFits() throws {
    guard Scratch.run("command -v zsh >/dev/null") == 0 else { return }
    let scratch = Scratch()
    scratch.write("functions/_sample", try #require(usage.completions(shell: "zsh")))
    scratch.write(
      "try",
      #"""
      zmodload zsh/zpty
      zpty sub zsh -f -i
      zpty -w sub "fpath=('\#(scratch.file("functions"))' \$fpath) PS1= HISTFILE="
      zpty -w sub "autoload -Uz compinit; compinit -u -D; unsetopt beep; sample() { print -r -- \$* >>'\#(scratch.file("said"))' }"
      zpty -w -n sub $'sample -o j\t\n'
      zpty -w -n sub $'sample --listen=x:1 --max-t\t5 ac\t\n'
      zpty -w -n sub $'sample -e x -e y -q --outp\tte\t vo\t\n'
      zpty -w -n sub $'exit\n'
      zpty -r sub >'\#(scratch.file("screen"))'
      while zpty -r sub >>'\#(scratch.file("screen"))'; do :; done
      """#)
    #expect(
      Scratch.run(
        "cd '\(scratch.path)' && TERM=dumb HOME='\(scratch.path)' perl -e 'alarm 20; exec @ARGV' zsh -f try </dev/null"
      )
        == 0)
    let bytes = try StateFile(path: scratch.file("said")).read() ?? []
    #expect(
      String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
        == [
          ["-o", "json"], ["--listen=x:1", "--max-time=5", "activity"],
          ["-e", "x", "-e", "y", "-q", "--output=text", "voice"],
        ])
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func theShellAcceptsItsScript(shell: String) throws {
    guard Scratch.run("command -v \(shell) >/dev/null") == 0 else { return }
    let scratch = Scratch()
    let file = scratch.write("script", try #require(usage.completions(shell: shell)))
    #expect(Scratch.run("\(shell) -n '\(file)'") == 0)
  }

  /// What bash offers at the end of these words.
  private func offered(_ words: [String], in scratch: Scratch) throws -> [String] {
    scratch.write("script", try #require(usage.completions(shell: "bash")))
    let line = words.map { "'\($0)'" }.joined(separator: " ")
    scratch.write(
      "try",
      """
      cd '\(scratch.file("files"))' && . ../script
      COMP_WORDS=(sample \(line)) COMP_CWORD=\(words.count)
      _sample
      printf '%s\\n' "${COMPREPLY[@]}" | sort >../offered
      """)
    #expect(Scratch.run("bash --norc '\(scratch.file("try"))'") == 0)
    let bytes = try StateFile(path: scratch.file("offered")).read() ?? []
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test func bashOffersWhatFits() throws {
    let scratch = Scratch()
    scratch.write("files/a b", "")
    scratch.write("files/a*", "")
    #expect(try offered([""], in: scratch) == ["activity", "voice"])
    #expect(try offered(["v"], in: scratch) == ["voice"])
    #expect(try offered(["--max"], in: scratch) == ["--max", "--max-retries", "--max-time"])
    #expect(try offered(["-o", ""], in: scratch) == ["json", "text"])
    #expect(try offered(["--output", "j"], in: scratch) == ["json"])
    #expect(try offered(["--output", "=", "j"], in: scratch) == ["json"])
    #expect(try offered(["--output", "="], in: scratch) == ["json", "text"])
    #expect(try offered(["-f", "a"], in: scratch) == ["a b", "a*"])
    #expect(try offered(["-e", ""], in: scratch) == [])
    #expect(try offered(["-q", ""], in: scratch) == ["activity", "voice"])
  }

  @Test func fishOffersWhatFits() throws {
    guard Scratch.run("command -v fish >/dev/null") == 0 else { return }
    let scratch = Scratch()
    scratch.write("script", try #require(usage.completions(shell: "fish")))
    scratch.write(
      "try",
      """
      source '\(scratch.file("script"))'
      complete -C 'sample --max-'
      complete -C 'sample -o '
      complete -C 'sample '
      """)
    let home = "HOME='\(scratch.path)' XDG_CONFIG_HOME= XDG_DATA_HOME="
    #expect(
      Scratch.run(
        "\(home) fish --no-config '\(scratch.file("try"))' | cut -f1 | sort >'\(scratch.file("offered"))'"
      )
        == 0)
    let bytes = try StateFile(path: scratch.file("offered")).read() ?? []
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == "--max-retries\n--max-time\nactivity\njson\ntext\nvoice\n")
  }
}
