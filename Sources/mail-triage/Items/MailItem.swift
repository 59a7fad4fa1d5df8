import Core
import Records

extension Item {
  /// More of a mail is not looked at, bytes.
  static let mostOfMail = 1 << 20
  /// The longest id that is taken, bytes: that of a line (RFC 5322, section 2.1.1).
  private static let longestID = 998

  /// What a mail is, and what is wrong with it where it is shown in spite of that.
  ///
  /// - Parameter own: the person's addresses, in lower case.
  static func read(
    mail bytes: UnsafeRawBufferPointer, isQuoted: Bool = false, own: Set<String> = []
  ) throws(Failure) -> (item: Item, fault: String?) {
    let header = MailHeader(bytes, 0..<bytes.count)
    if header.isEmpty { throw Failure("not a mail: it has no header") }
    // The id without its brackets, which some mailers forget; a digest where it has none.
    let bare = header.raw("message-id").map(PlainText.line) ?? ""
    let id =
      firstID(of: header.raw("message-id")) ?? (isID(bare) ? bare : nil)
      ?? "digest-" + ActionKey(text: bytes).text
    var item = Item(kind: "mail", id: id, platform: "mail", category: "email")
    let root = firstID(of: header.raw("references")) ?? firstID(of: header.raw("in-reply-to"))
    item.thread = root ?? id
    let from = (header.raw("from") ?? header.raw("sender")).flatMap { MailAddress.list($0).first }
    item.name = from?.name ?? ""
    item.senders = from.map { [$0.address] }?.filter { !$0.isEmpty } ?? []
    let to = header.raw("to").map(MailAddress.list) ?? []
    item.recipients = (to + (header.raw("cc").map(MailAddress.list) ?? [])).map(\.address)
    item.subject = PlainText.line(header.text("subject") ?? "")
    item.time = header.raw("date").flatMap(MailDate.time)
    item.list = header.text("list-id").map(PlainText.line)
    let precedence = header.raw("precedence")?.lowercased()
    if precedence == "list", item.list == nil { item.list = "" }
    // Who the person is, the server knows where nobody says it.
    let delivered = ["delivered-to", "x-original-to"].compactMap { header.raw($0)?.lowercased() }
    let own = own.isEmpty ? Set(delivered) : own
    if to.contains(where: { own.contains($0.address.lowercased()) }) { item.marks.insert(.direct) }
    if root != nil { item.marks.insert(.reply) }
    let automatic = ContentType(header.raw("auto-submitted")).value
    let isAutomatic = !automatic.isEmpty && automatic != "no"
    let isBulk = precedence == "bulk" || precedence == "junk"
    if isBulk || isAutomatic || item.list != nil { item.marks.insert(.bulk) }
    if isBulk {
      item.urgency = .noise
    } else if item.marks.isSuperset(of: [.reply, .direct]), !item.marks.contains(.bulk) {
      item.urgency = .attention
    }
    if header.isCut {
      return (item, "its header is longer than \(MailHeader.mostBytes) bytes: the rest is not read")
    }
    let body = MailBody(bytes, header, end: bytes.count)
    item.text = (isQuoted ? body.text.map(unquoted) : body.text) ?? ""
    if body.hasAttachment { item.marks.insert(.attachment) }
    if body.hasCalendar { item.category = "calendar" }
    return (item, nil)
  }

  /// The first id of a field, `<a@b> <c@d>`, without its brackets.
  private static func firstID(of field: String?) -> String? {
    var rest = Substring(field ?? "")
    while let start = rest.firstIndex(of: "<") {
      rest = rest[rest.index(after: start)...]
      guard let end = rest.firstIndex(of: ">") else { break }
      let id = rest[..<end].filter { !$0.isWhitespace }
      if isID(id) { return id }
      rest = rest[end...]
    }
    return nil
  }

  private static func isID(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longestID
      && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7f }
  }

  /// A text without the `>` that a mailbox has put before lines that begin with `From `.
  private static func unquoted(_ text: String) -> String {
    guard text.holds(">From ") else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.first == ">" && line.drop { $0 == ">" }.hasPrefix("From ") ? line.dropFirst() : line
    }.joined(separator: "\n")
  }
}
