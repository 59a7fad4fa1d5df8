import Records

extension Item {
  /// What a mail is.
  init(_ mail: Mail, own: Set<String>) {
    self.init(
      kind: "mail", id: mail.id, platform: "mail",
      category: mail.hasCalendar ? "calendar" : "email")
    name = mail.from?.name ?? ""
    senders = mail.from.map { [$0.address] }?.filter { !$0.isEmpty } ?? []
    recipients = (mail.to + mail.copies).map(\.address)
    subject = mail.subject
    text = mail.text ?? ""
    list = mail.list
    thread = mail.thread
    time = mail.time
    // Who the person is, the server knows where nobody says it.
    let own = own.isEmpty ? Set(mail.delivered.map { $0.lowercased() }) : own
    if mail.to.contains(where: { own.contains($0.address.lowercased()) }) { marks.insert(.direct) }
    if mail.isReply { marks.insert(.reply) }
    if mail.hasAttachment { marks.insert(.attachment) }
    if mail.isBulk || mail.isAutomatic || mail.list != nil { marks.insert(.bulk) }
    if mail.isBulk {
      urgency = .noise
    } else if marks.isSuperset(of: [.reply, .direct]), !marks.contains(.bulk) {
      urgency = .attention
    }
  }
}
