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
