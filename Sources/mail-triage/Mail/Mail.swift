import Core
import Records

struct Mail {
  var from: MailAddress?
  var to: [MailAddress] = []
  var copies: [MailAddress] = []
  var delivered: [String] = []
  var subject = ""
  var text: String?
  var time: Timestamp?
  /// The id of the message without its brackets; a digest where it has none.
  var id: String
  /// The id of the first message of its conversation; its own if it is that.
  var thread: String
  var list: String?
  var isReply = false
  var isBulk = false
  var isAutomatic = false
  var hasAttachment = false
  var hasCalendar = false
  /// What is wrong with it, where it is shown in spite of that.
  var fault: String?

  /// More of a mail is not looked at, bytes.
  static let mostBytes = 1 << 20
  /// The longest id that is taken, bytes: that of a line (RFC 5322, section 2.1.1).
  static let longestID = 998

  init(_ bytes: UnsafeRawBufferPointer, isQuoted: Bool = false) throws(Failure) {
    let header = MailHeader(bytes, 0..<bytes.count)
    if header.isEmpty { throw Failure("not a mail: it has no header") }
    let ids = Self.ids(header.raw("message-id") ?? "", most: 1)
    // Some mailers forget the brackets.
    let bare = header.raw("message-id").map(PlainText.line) ?? ""
    if let found = ids.first ?? (Self.isID(bare) ? bare : nil) {
      id = found
    } else {
      id = "digest-" + ActionKey(text: bytes).text
    }
    let reply = Self.ids(header.raw("in-reply-to") ?? "", most: 1)
    let root = Self.ids(header.raw("references") ?? "", most: 1).first ?? reply.first
    thread = root ?? id
    isReply = root != nil
    from = (header.raw("from") ?? header.raw("sender")).flatMap { MailAddress.list($0).first }
    to = header.raw("to").map(MailAddress.list) ?? []
    copies = header.raw("cc").map(MailAddress.list) ?? []
    delivered = ["delivered-to", "x-original-to"].compactMap { header.raw($0) }
    subject = PlainText.line(header.text("subject") ?? "")
    time = header.raw("date").flatMap(MailDate.time)
    list = header.text("list-id").map(PlainText.line)
    switch header.raw("precedence")?.lowercased() {
    case "bulk", "junk": isBulk = true
    case "list": list = list ?? ""
    default: break
    }
    let automatic = ContentType(header.raw("auto-submitted")).value
    isAutomatic = !automatic.isEmpty && automatic != "no"
    if header.isCut {
      fault = "its header is longer than \(MailHeader.mostBytes) bytes: the rest is not read"
      return
    }
    let body = MailBody(bytes, header, end: bytes.count)
    text = isQuoted ? body.text.map(Self.unquoted) : body.text
    hasAttachment = body.hasAttachment
    hasCalendar = body.hasCalendar
  }

  /// The ids of a field, `<a@b> <c@d>`, without their brackets.
  private static func ids(_ field: String, most: Int) -> [String] {
    var found: [String] = []
    var rest = field[...]
    while found.count < most, let start = rest.firstIndex(of: "<") {
      rest = rest[rest.index(after: start)...]
      guard let end = rest.firstIndex(of: ">") else { break }
      let id = rest[..<end].filter { !$0.isWhitespace }
      if isID(id) { found.append(id) }
      rest = rest[end...]
    }
    return found
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
