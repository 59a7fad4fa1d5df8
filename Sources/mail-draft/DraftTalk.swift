import CLibc
import Core

struct DraftTalk {
  private let terminal: Int32
  private let command: String
  private let diagnostics: Diagnostics
  private let scratch: ScratchFolder
  private var path: String { scratch.path + "/draft.eml" }

  init(_ terminal: Int32, _ command: String, _ diagnostics: Diagnostics) {
    (self.terminal, self.command, self.diagnostics) = (terminal, command, diagnostics)
    scratch = ScratchFolder(diagnostics)
  }

  func run(_ draft: Draft) -> Never {
    EndSignals.watch()
    var draft = draft
    write(draft)
    edit(&draft)
    while true {
      show(draft)
      // What was typed before the question is no answer to it.
      tcflush(terminal, TCIFLUSH)
      put("send? [y/N/e] ")
      switch readAnswer() {
      case "y" where draft.hasRecipient: send(draft)
      case "y": put("It has no recipient.\n")
      case "e", "E": edit(&draft)
      default:
        keep()
        leave(1)
      }
    }
  }

  // MARK: Leaving

  private func leave(_ code: Int32) -> Never {
    scratch.remove()
    Process.exit(code: code)
  }

  /// A signal keeps the draft.
  private func handleSignal() {
    guard let signal = EndSignals.next() else { return }
    keep()
    scratch.remove()
    Process.die(by: signal)
  }

  private func fail(_ words: String, _ code: Int32 = 2) -> Never {
    diagnostics.say(Visible.masked(words))
    keep()
    leave(code)
  }

  /// Puts the draft where it is found again; where that cannot be, it stays where it is.
  private func keep() {
    let drafts = Folders.join(Folders().state, "drafts")
    let time = Timestamp.now().rfc3339.prefix(19).filter { $0.isNumber || $0 == "T" }
    let kept = Folders.join(drafts, "\(time).\(getpid())")
    if (try? Folders.make(drafts)) != nil, chmod(drafts, 0o700) == 0, access(kept, F_OK) != 0,
      let bytes = try? BoundedFile.given(path),
      (try? StateFile(path: kept).replace(with: bytes)) != nil
    {
      return diagnostics.say("the draft is in \(kept)")
    }
    diagnostics.say("\(drafts): the draft could not be kept; it is in \(path)")
    Process.exit(.failure)
  }

  private func write(_ draft: Draft) {
    do throws(Failure) { try StateFile(path: path).replace(with: draft.bytes) } catch {
      fail(error.message)
    }
  }

  // MARK: Programs

  /// A shell's words, with the standard descriptors only.
  private func status(_ words: [String], _ input: Int32, _ error: ChildProcess.Stream) -> Int32 {
    let child = try? ChildProcess(
      ["sh", "-c"] + words, input: .given(input), output: .given(terminal), error: error)
    guard let child else { return 127 }
    let status = child.waitForEnd()
    handleSignal()
    return child.exitStatus ?? (status == 0 ? 0 : 128)
  }

  private func edit(_ draft: inout Draft) {
    // The words of the variable are for a shell, the name of the file is not.
    let editor = Process.environment("VISUAL") ?? Process.environment("EDITOR") ?? "vi"
    if status(["\(editor) \"$1\"", "sh", path], terminal, .ours) != 0 {
      fail("the editor failed: nothing is sent")
    }
    do throws(Failure) {
      draft = try Draft(BoundedFile.given(path))
    } catch {
      fail(error.place == nil ? error.reason : "\(path): cannot be read")
    }
  }

  private func send(_ draft: Draft) -> Never {
    let (mail, said) = (scratch.path + "/mail", scratch.path + "/said")
    _ = try? StateFile(path: mail).replace(with: draft.mail)
    let (input, error) = (clibc_open(mail, O_RDONLY), clibc_create(said))
    let code = status([command], input, .given(error))
    if code == 0 {
      put("sent\n")
      leave(0)
    }
    let line = ((try? BoundedFile.given(said)) ?? []).prefix { $0 != 10 }
    fail(
      "\(command): \(line.isEmpty ? "status \(code)" : FileName.text(Array(line)))",
      code == 75 ? 75 : 2)
  }

  // MARK: The screen

  private func put(_ text: String) {
    let writer = RecordWriter(descriptor: terminal)
    try? writer.write(text)
    try? writer.flush()
  }

  /// A line without the blanks around it; empty at the end of the file.
  private func readAnswer() -> String {
    let line = EndSignals.line(from: terminal, handleSignal: handleSignal)
    if line == nil { put("\n") }
    return (line ?? []).split(whereSeparator: isBlank).map { String(decoding: $0, as: UTF8.self) }
      .joined(separator: " ")
  }

  /// Lines that a terminal only shows, whatever is in them.
  static func shown(_ bytes: ArraySlice<UInt8>) -> [String] {
    var lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { line in
      Visible.masked(FileName.text(line.map { $0 == 9 ? 32 : $0 }))
    }
  }

  private func show(_ draft: Draft) {
    let size = WindowSize(of: terminal).columns
    let columns = (10...9999).contains(size) ? size : 80
    var text = "\n"
    func add(_ lines: [String], _ most: Int) {
      for line in lines { text += Self.cut(line, most) + "\n" }
    }
    add(draft.fields.filter(\.isTold).flatMap { Self.shown($0.line[...]) }, columns * 10)
    var others: [String] = []
    for field in draft.fields where !field.isTold {
      let name = String(decoding: field.bytes.prefix { $0 != 0x3a && !isBlank($0) }, as: UTF8.self)
      if !others.contains(where: { $0.lowercased() == field.name }) { others.append(name) }
    }
    if !others.isEmpty {
      let names = others.sorted { $0.lowercased() < $1.lowercased() }.joined(separator: ", ")
      add(["Other fields: \(Visible.masked(names))"], columns * 5)
    }
    text += "\n"
    var rest = draft.body
    for _ in 0..<10 where !rest.isEmpty {
      // What no screen holds is not looked at.
      let line = rest.prefix { $0 != 10 }
      add(Self.shown(line.prefix(columns * 8)), columns)
      if line.isEmpty { text += "\n" }
      rest = rest.dropFirst(line.count + 1)
    }
    let more = rest.count { $0 == 10 }
    if more > 0 { text += "(\(more) more lines)\n" }
    put("\(text)\n" + asked(draft).map { Self.narrowed($0, columns) + "\n" }.joined())
  }

  /// The recipients, where nothing can push them off the screen: a line for each address, some of
  /// each field, and how many more there are.
  private func asked(_ draft: Draft) -> [String] {
    let fields = draft.fields.filter { $0.isOfRecipients && !$0.text.isEmpty }
    var lists = fields.map { Recipients($0.text).addresses }
    let all = lists.reduce(0) { $0 + $1.count }
    var taken = fields.map { _ in [[UInt8]]() }
    var shown = 0
    while shown < min(12, all) {
      for index in lists.indices where shown < 12 && !lists[index].isEmpty {
        taken[index].append(lists[index].removeFirst())
        shown += 1
      }
    }
    var lines: [String] = []
    for (field, addresses) in zip(fields, taken) {
      let name = field.bytes.prefix { $0 != 0x3a && !isBlank($0) }
      for address in addresses { lines += Self.shown((name + [0x3a, 32] + address)[...]) }
    }
    return lines + (all > shown ? ["(\(all - shown) more recipients)"] : [])
  }

  /// No longer than so many characters.
  private static func cut(_ text: String, _ most: Int) -> String {
    let scalars = text.unicodeScalars
    return scalars.count > most ? String(scalars.prefix(most - 3)) + "..." : text
  }

  /// The same; what is left out is in its middle.
  private static func narrowed(_ text: String, _ most: Int) -> String {
    let scalars = text.unicodeScalars
    guard scalars.count > most else { return text }
    let left = (most - 3) / 2
    return String(scalars.prefix(left)) + "..." + String(scalars.suffix(left))
  }
}
