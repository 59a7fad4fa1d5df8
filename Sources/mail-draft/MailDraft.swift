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
      Option("n", "print", "print the mail, ask nothing and send nothing") {
        $0.isPrinted = true
      },
      Option("s", "subject", "SUBJECT", "the subject, instead of the one in the draft", .line) {
        $0.subject = $1
      },
      Option("t", "to", "ADDRESS,...", "who it is for, instead of the draft's To", .line) {
        $0.to = $1
      },
      Option(
        nil, "sendmail", "COMMAND", "what sends it (default: $SENDMAIL or sendmail -t -oi)", .word
      ) { $0.sendmail = $1 },
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
