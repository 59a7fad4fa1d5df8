import Core
import Records

struct Item {
  enum Mark: String, CaseIterable {
    /// Of a list, or sent to many, or by a machine.
    case bulk
    case direct
    case mention
    case reply
    case attachment
  }

  /// What it is about: `mail` or `message`.
  var kind: String
  /// What is known again, without the kind.
  var id: String
  /// `mail`, `telegram`, the name of a backend.
  var platform: String
  /// The sender's address, or id and name, by which a rule may know them: one of these.
  var senders: [String] = []
  var name = ""
  var recipients: [String] = []
  var subject = ""
  var text = ""
  var list: String?
  var marks: Set<Mark> = []
  var urgency = NotificationRecord.Urgency.info
  var category: String
  var thread: String?
  var backend: String?
  var profile: String?
  var time: Timestamp?

  /// The longest title and the longest text of a notification, scalars.
  static let longestTitle = 200
  static let longestText = 280

  init(kind: String, id: String, platform: String, category: String) {
    (self.kind, self.id, self.platform, self.category) = (kind, id, platform, category)
  }

  /// By what it is known again: a digest. An id alone is not enough, for who sends a mail chooses
  /// it; what a message says may be edited.
  var key: String {
    var parts = [kind, id]
    if kind == "mail" { parts += [title, time?.rfc3339 ?? "", text] }
    return Array(Self.joined(parts).utf8).withUnsafeBytes { ActionKey(text: $0) }.text
  }

  /// Parts of an id, with `/` between them and `%2F` for one in them.
  static func joined(_ parts: [String]) -> String {
    parts.map { part in
      // By scalars: a mark may stand above a slash.
      part.unicodeScalars.map { $0 == "%" ? "%25" : $0 == "/" ? "%2F" : String($0) }.joined()
    }.joined(separator: "/")
  }

  private var title: String {
    let sender = PlainText.line(name.isEmpty ? senders.first ?? "" : name)
    let subject = subject.isEmpty ? "" : PlainText.line(subject)
    let all = [sender, subject].filter { !$0.isEmpty }.joined(separator: ": ")
    return PlainText.beginning(all.isEmpty ? "(no sender)" : all, most: Self.longestTitle)
  }

  func record(_ verdict: Verdict) -> [UInt8] {
    let preview = PlainText.beginning(PlainText.line(text), most: Self.longestText)
    // One who chooses the id of a mail must not hide another mail by it.
    let own = kind == "mail" ? "\(kind)/\(id)/\(key)" : "\(kind)/\(id)"
    return RecordText(.notification).string("backend", backend).string("profile", profile)
      .string("id", own).string("urgency", verdict.urgency.rawValue)
      .string("category", verdict.category).string("title", title)
      .string("text", preview.isEmpty ? nil : preview)
      .object("about", RecordText().string("type", kind).string("id", id))
      .string("thread", thread).time(time).line
  }
}

struct Verdict: Equatable {
  var urgency: NotificationRecord.Urgency
  var category: String
}

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

extension Item {
  /// What a record is; nil for one that is known, and of which nothing is to be told: one's own
  /// words, half a message, what was read.
  static func read(record bytes: UnsafeRawBufferPointer) throws(Failure) -> Item? {
    let object = try JSONValue.parse(bytes)
    guard object.isObject else { throw Failure("not a JSON object") }
    if object["contractVersion"] != nil { return try event(object) }
    if object["type"]?.string == RecordType.message.rawValue, object["backend"] != nil {
      return try message(bytes)
    }
    if object["conversationId"] != nil, object["body"] != nil || object["bodyPlain"] != nil {
      return try mail(object)
    }
    if object["lastMessageAt"] != nil, object["subject"] != nil { return try conversation(object) }
    throw Failure("nothing that comes in, as far as is known")
  }

  private static func event(_ object: JSONValue) throws(Failure) -> Item? {
    guard object["contractVersion"]?.integer == 2 else {
      throw Failure("an event of another version than 2")
    }
    guard let type = object["type"]?.string else { throw Failure("has no type") }
    guard let actor = object["actor"], type == "message", actor["isSelf"]?.bool != true else {
      return nil
    }
    let ids = object["platformIds"]
    let platform = object["platform"]?.string ?? "chat"
    let place = ids?["conversationId"]?.text
    guard let message = ids?["messageId"]?.text ?? object["eventId"]?.text else {
      throw Failure("has no messageId")
    }
    var item = Item(
      kind: "message", id: joined([platform, place, message].compactMap { $0 }),
      platform: platform, category: "message")
    item.name = actor["displayName"]?.string ?? actor["userName"]?.string ?? ""
    item.senders = [actor["userName"]?.text, actor["platformUserId"]?.text].compactMap { $0 }
    item.text = cut(object["text"])
    item.thread = ids?["threadId"]?.text ?? place
    item.time = object["occurredAt"]?.time ?? object["observedAt"]?.time
    if actor["isBot"]?.bool == true { item.marks.insert(.bulk) }
    if object["isMention"]?.bool == true { item.marks.insert(.mention) }
    if object["attachmentCount"]?.integer ?? 0 > 0 { item.marks.insert(.attachment) }
    if item.marks.contains(.mention), !item.marks.contains(.bulk) { item.urgency = .attention }
    return item
  }

  /// A record `message`: the agent's own words, or those of somebody who has a name.
  private static func message(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> Item? {
    let message: MessageRecord
    do throws(RecordFields.Fault) {
      message = try MessageRecord(reading: try RecordFields(bytes))
    } catch {
      if error.isNews { return nil }
      throw Failure(error.reason)
    }
    guard message.state == .final,
      message.role == .assistant || message.role == .user && message.author != nil
    else { return nil }
    let backend = message.origin.backend.rawValue
    let place = [backend, message.origin.profile, message.thread, message.id]
    var item = Item(
      kind: "message", id: joined(place.compactMap { $0 }), platform: backend,
      category: "message")
    item.name = message.author ?? message.origin.profile ?? backend
    item.senders = [message.author].compactMap { $0 }
    item.text = PlainText.kept(message.text, most: MailBody.mostKept)
    item.thread = message.thread
    item.backend = backend
    item.profile = message.origin.profile
    item.time = message.time
    if message.attachments?.isEmpty == false { item.marks.insert(.attachment) }
    return item
  }

  private static func mail(_ object: JSONValue) throws(Failure) -> Item? {
    guard let id = object["id"]?.text else { throw Failure("has no id") }
    if object["isInbound"]?.bool == false { return nil }
    var item = Item(kind: "mail", id: id, platform: "mail", category: "email")
    item.fill(object)
    let plain = cut(object["bodyPlain"])
    item.text = plain.isEmpty ? HTMLText.plain(cut(object["body"])) : plain
    item.thread = object["conversationId"]?.text
    item.time = object["date"]?.time
    if object["attachments"]?.elements.isEmpty == false { item.marks.insert(.attachment) }
    return item
  }

  private static func conversation(_ object: JSONValue) throws(Failure) -> Item? {
    guard let id = object["id"]?.text else { throw Failure("has no id") }
    let state = object["status"]?.string
    guard object["isUnread"]?.bool != false, state == nil || state == "open" else { return nil }
    // What comes later in a conversation is other news.
    let last = object["lastMessageAt"]?.text ?? ""
    var item = Item(kind: "mail", id: "\(id)/\(last)", platform: "mail", category: "email")
    item.fill(object)
    item.text = cut(object["preview"])
    item.thread = id
    item.time = object["lastMessageAt"]?.time
    return item
  }

  private mutating func fill(_ object: JSONValue) {
    if let from = object["from"].flatMap(Self.addresses)?.first {
      name = from.name
      senders = [from.address].filter { !$0.isEmpty }
    }
    recipients = ["to", "cc"].flatMap { name in
      (object[name]?.elements ?? []).prefix(MailAddress.most).flatMap(Self.addresses)
        .map(\.address)
    }
    subject = PlainText.line(Self.cut(object["subject"]))
  }

  private static func addresses(_ value: JSONValue) -> [MailAddress] {
    if value.string != nil { return MailAddress.list(cut(value)) }
    let address = ["address", "email", "handle"].lazy.compactMap { value[$0]?.string }.first
    guard address != nil || value["name"] != nil else { return [] }
    return [MailAddress(name: value["name"]?.string ?? "", address: address ?? "")]
  }

  private static func cut(_ value: JSONValue?) -> String {
    PlainText.kept(value?.string(bytes: MailBody.mostOfText) ?? "", most: MailBody.mostKept)
  }
}
