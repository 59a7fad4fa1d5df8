import Agent
import CLibc
import Core
import Screen

extension Memory {
  /// `mem-search --pick`: facts in fzf(1), to edit, delete, copy or print them. The list is opened
  /// again after each change.
  func pick() throws -> ExitStatus {
    guard ProgramCall.isThere("fzf") else { throw Failure("fzf", "not found", .failure) }
    let terminal = clibc_open("/dev/tty", O_RDWR | O_NOCTTY)
    guard options.filter != nil || terminal >= 0 else {
      throw Failure("no terminal: --filter WORDS prints without one", .failure)
    }
    defer { if terminal >= 0 { close(terminal) } }
    var query = ""
    while true {
      let found = try wanted()
      if !found.isWhole { return .failure }
      if found.rows.isEmpty { return try write([], none: found.none) }
      let list = try file(found.rows.map { FactRows.tsv($0) + "\n" }.joined())
      defer { close(list) }
      if let filter = options.filter {
        return ExitStatus(rawValue: try fzf(["--nth", "5,2,3", "--filter", filter], list, .ours))
          ?? .failure
      }
      let chosen = try file("")
      defer { close(chosen) }
      let status = try fzf(
        [
          "--multi", "--with-nth", "5,2,3", "--query", query, "--print-query",
          "--expect", "ctrl-e,ctrl-d,ctrl-y",
          "--header", "Enter print  Ctrl-E edit  Ctrl-D delete  Ctrl-Y copy",
          "--preview", Self.preview, "--preview-window", "down,12,wrap",
        ], list, .given(chosen))
      guard status == 0 else { return status == 1 || status == 130 ? .negative : .failure }
      // The first line is the query, the second the key, the others are facts.
      let lines = try text(of: chosen).split(separator: "\n", omittingEmptySubsequences: false)
      query = String(lines.first ?? "")
      let facts = lines.dropFirst(2).dropLast()
      let ids = facts.map { String($0.prefix { $0 != "\t" }) }
      switch lines.dropFirst().first {
      case "ctrl-e":
        for id in ids {
          try attempt(terminal) {
            $0.mode = .edit
            $0.id = id
          }
        }
      case "ctrl-d":
        try attempt(terminal) {
          $0.mode = .delete
          $0.operands = ids
        }
      case "ctrl-y":
        let texts = facts.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
        try copy(texts.map { ($0.dropFirst(4).first ?? "") + "\n" }.joined(), terminal)
        return .success
      default:
        try output.text(facts.joined(separator: "\n"))
        return .success
      }
    }
  }

  /// For sh(1), as whose words fzf quotes the fields. Over the end of its first row fzf puts a counter.
  private static let preview = #"""
    printf "%s\n" "" {5} {6} "" "subject     "{2} "type        "{3} "confidence  "{4} \
      "scope       "{7} "updated     "{13} "id          "{1}
    [ -z {15} ] || printf "guild       %s\n" {15}
    """#

  /// With other settings of the user's than colours it would answer otherwise than it is asked.
  private func fzf(
    _ words: [String], _ list: Int32, _ output: ChildProcess.Stream
  ) throws(Failure) -> Int32 {
    let settings = (Process.environment("FZF_DEFAULT_OPTS") ?? "").split { " \t\n".contains($0) }
    let colours = settings.filter { word in
      word.hasPrefix("--color=")
        && word.utf8.dropFirst(8).allSatisfy { byte in
          (48...57).contains(byte) || (97...122).contains(byte | 32) || ":,#_+-".utf8.contains(byte)
        }
    }
    let child = try ChildProcess(
      ["fzf", "--no-sort", "--delimiter", "\t"] + words,
      environment: [
        "SHELL": "/bin/sh", "FZF_DEFAULT_OPTS": colours.joined(separator: " "),
        "FZF_DEFAULT_OPTS_FILE": nil, "FZF_DEFAULT_COMMAND": nil,
      ], input: .given(list), output: output)
    _ = child.waitForEnd()
    return child.exitStatus ?? 2
  }

  /// Changes facts. What went wrong is read before the list covers it.
  private func attempt(_ terminal: Int32, _ change: (inout MemOptions) -> Void) throws {
    var options = options
    (options.types, options.subject, options.form) = ([], nil, .table)
    change(&options)
    let output = RowOutput(form: .table, look: options.look, isQuiet: false)
    let memory = Memory(options: options, caller: caller, output: output, diagnostics: diagnostics)
    var status = ExitStatus.failure
    do {
      status = try options.mode == .edit ? memory.edit() : memory.delete()
    } catch let failure as any Reported {
      diagnostics.say(failure.message)
    }
    try output.flush()
    if status == .success { return }
    let words = Array("\(diagnostics.program): Enter goes on ".utf8)
    _ = CLibc.write(2, words, words.count)
    var byte: UInt8 = 0
    while read(terminal, &byte, 1) == 1, byte != 10 {}
  }

  /// The clipboard of the desktop, of tmux, or of the terminal itself (OSC 52).
  private func copy(_ text: String, _ terminal: Int32) throws {
    let has = { (name: String) in Process.environment(name) != nil }
    let ways: [(isHere: Bool, words: [String])] = [
      (has("WAYLAND_DISPLAY"), ["wl-copy"]),
      (has("DISPLAY"), ["xclip", "-selection", "clipboard"]),
      (true, ["pbcopy"]), (has("TMUX"), ["tmux", "load-buffer", "-"]),
    ]
    if let way = ways.first(where: { $0.isHere && ProgramCall.isThere($0.words[0]) }) {
      let input = try file(text)
      defer { close(input) }
      let child = try ChildProcess(way.words, input: .given(input), output: .nothing)
      _ = child.waitForEnd()
      return
    }
    let writer = RecordWriter(descriptor: terminal)
    try writer.write("\u{1b}]52;c;\(Base64.text(Array(text.utf8)))\u{7}")
    try writer.flush()
  }

  /// A file without a name.
  private func file(_ text: String) throws -> Int32 {
    let folder = Process.environment("TMPDIR") ?? "/tmp"
    let (descriptor, name) = temporaryFile(beside: Folders.join(folder, "mem-search"))
    guard descriptor >= 0 else { throw Failure(folder, "no file can be made", .failure) }
    unlink(name)
    let writer = RecordWriter(descriptor: descriptor)
    try writer.write(text)
    try writer.flush()
    lseek(descriptor, 0, SEEK_SET)
    return descriptor
  }

  private func text(of file: Int32) throws -> String {
    lseek(file, 0, SEEK_SET)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65536)
    while case let count = read(file, &piece, piece.count), count > 0 { bytes += piece[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
