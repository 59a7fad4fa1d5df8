import Core
import Records

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
    item.time = time(object["occurredAt"]) ?? time(object["observedAt"])
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
    item.time = time(object["date"])
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
    item.time = time(object["lastMessageAt"])
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

  private static func time(_ value: JSONValue?) -> Timestamp? {
    value?.string.flatMap { Timestamp(rfc3339: $0) }
  }
}
