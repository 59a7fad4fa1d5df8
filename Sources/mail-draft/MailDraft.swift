import CLibc
import Core

/// mail-draft(1): opens a draft in an editor, shows what it is, and hands it to sendmail after a
/// yes.
///
/// Whoever wrote the draft decides nothing: each field that names a recipient is shown, and only
/// a y that is typed behind the question sends it.
public func mailDraftMain() {
  umask(0o077)
  DraftOptions.table.run(DraftOptions()) { options, diagnostics in
    let terminal = options.isPrinted ? -1 : clibc_open("/dev/tty", O_RDWR | O_NOCTTY)
    if options.file != "-", access(options.file, F_OK) != 0 {
      diagnostics.fail("\(options.file): No such file or directory")
    }
    if !options.isPrinted, terminal < 0 {
      diagnostics.fail("no terminal to ask at: nothing is sent; -n prints the mail")
    }
    guard let command = options.isPrinted ? "" : options.command else {
      diagnostics.fail(
        "sendmail is not installed: name what sends mail with --sendmail or SENDMAIL")
    }
    let draft = try draft(options)
    if options.isPrinted {
      try print(draft.mail)
      return .success
    }
    DraftTalk(terminal, command, diagnostics).run(draft)
  }
}

private func draft(_ options: DraftOptions) throws -> Draft {
  var bytes = try BoundedFile.given(options.file)
  // What some editors begin a text with.
  if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes.removeFirst(3) }
  let blanks: [UInt8] = [0, 9, 10, 13, 32]
  if bytes.first(where: { !blanks.contains($0) }) == UInt8(ascii: "{") {
    bytes = try Draft.mail(record: String(decoding: bytes, as: UTF8.self))
  }
  var draft = try Draft(bytes)
  if let to = options.to { draft.set("To", to) }
  if let subject = options.subject { draft.set("Subject", subject) }
  draft.fill()
  return draft
}

/// To a terminal, nothing that it obeys.
private func print(_ mail: [UInt8]) throws {
  let writer = RecordWriter()
  if isatty(1) == 1 {
    try writer.write(DraftTalk.shown(mail[...]).map { $0 + "\n" }.joined())
  } else {
    try writer.write(mail)
  }
  try writer.flush()
}

struct DraftOptions {
  var isPrinted = false
  var subject: String?
  var to: String?
  var sendmail = Process.environment("SENDMAIL")
  /// `-` is standard input.
  var file = "-"

  var command: String? {
    if let sendmail { return sendmail }
    let places = ["/usr/sbin/sendmail", "/usr/lib/sendmail"].filter { access($0, X_OK) == 0 }
    let program = ProgramCall.isThere("sendmail") ? "sendmail" : places.first
    return program.map { "\($0) -t -oi" }
  }

  static let table = OptionTable<DraftOptions>(
    program: "mail-draft",
    summary: "Open a draft in your editor, show it, and send it if you say yes.",
    synopsis: "[options] [FILE]",
    options: [
      Option("n", "print", "print the mail, ask nothing and send nothing", \.isPrinted),
      Option(
        "s", "subject", "SUBJECT", "the subject, instead of the one in the draft", .line, \.subject),
      Option("t", "to", "ADDRESS,...", "who it is for, instead of the draft's To", .line, \.to),
      Option(
        nil, "sendmail", "COMMAND", "what sends it (default: $SENDMAIL or sendmail -t -oi)", .word,
        \.sendmail),
    ]
  ) { options, words throws(UsageError) in
    if words.paths.count > 1 { throw UsageError("one draft at a time") }
    options.file = words.paths.first ?? "-"
  }
}

extension Reading<String> {
  /// A line end would begin another field.
  fileprivate static var line: Reading {
    Reading { argument throws(UsageError) in
      if argument.path.isEmpty { throw argument.fault("nothing is named") }
      if argument.path.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) {
        throw UsageError("a subject or an address holds a control character")
      }
      return argument.path
    }
  }
}

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

/// The addresses of a field, without the names around them, that no name hides: what may be one
/// to whoever sends the mail is one here.
struct Recipients {
  private(set) var addresses: [[UInt8]] = []

  init(_ list: [UInt8]) {
    // A quote or a comment without an end is no such thing.
    for (quotes, comments) in [(true, true), (false, true), (true, false), (false, false)] {
      addresses = []
      if read(list, quotes, comments) { return }
    }
  }

  private mutating func add(_ address: [UInt8]) {
    let words = address.split(whereSeparator: isBlank)
    if !words.isEmpty { addresses.append(Array(words.joined(separator: [32]))) }
  }

  /// What is an address in a text: each word with an @, or else all of it, if it is to be one.
  private mutating func words(_ text: [UInt8], whole: Bool) {
    let words = text.split { isBlank($0) || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }
      .filter { $0.contains(UInt8(ascii: "@")) }
    for word in words { add(Array(word)) }
    if whole, words.isEmpty { add(text) }
  }

  /// False for a quote or a comment without an end.
  private mutating func read(_ list: [UInt8], _ quotes: Bool, _ comments: Bool) -> Bool {
    var (text, raw, inner, word) = ([UInt8](), [UInt8](), [UInt8](), [UInt8]())
    var (isAngled, isInside, isQuoted, isLiteral) = (false, false, false, false)
    var depth = 0

    /// One of a list is over. Nobody but a name in quotes is one to whom it is sent, too.
    func put(isGroup: Bool) {
      if text.contains(where: { !isBlank($0) }) {
        words(text, whole: !isAngled && !isGroup)
      } else if !isAngled, !isGroup {
        add(raw)
      }
      (text, raw, isAngled) = ([], [], false)
    }

    var index = 0
    while index < list.count {
      let letter = UnicodeScalar(list[index])
      let next = index + 1 < list.count ? UnicodeScalar(list[index + 1]) : " "
      if letter == "\\", isQuoted || depth > 0 || isInside {
        let pair = list[index..<min(index + 2, list.count)]
        if isQuoted { word += pair } else if isInside { inner += pair }
        index += 2
        continue
      }
      index += 1
      let byte = list[index - 1]
      switch letter {
      case _ where isQuoted:
        word.append(byte)
        guard letter == "\"" else { continue }
        isQuoted = false
        raw += word
        // As a part of an address it is one word.
        let one = word.map { isBlank($0) || $0 == 0x2c || $0 == 0x3b ? UInt8(ascii: "?") : $0 }
        if isInside { inner += one } else { text += next == "@" || next == "." ? one : [32] }
      case _ where depth > 0: depth += letter == "(" ? 1 : letter == ")" ? -1 : 0
      case "\"" where quotes: (isQuoted, word) = (true, [byte])
      case "(" where comments:
        depth = 1
        text.append(32)
      case ">" where isInside:
        words(inner, whole: true)
        isInside = false
      case _ where isInside: inner.append(byte)
      case "<": (isInside, isAngled, inner) = (true, true, [])
      case ",", ";": put(isGroup: false)
      case ":" where !isLiteral: put(isGroup: true)
      default:
        if letter == "[" || letter == "]" { isLiteral = letter == "[" }
        text.append(byte)
        raw.append(byte)
      }
    }
    if isQuoted || depth > 0 { return false }
    if isInside { words(inner, whole: true) }
    put(isGroup: false)
    return true
  }
}
