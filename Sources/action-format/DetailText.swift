import Core
import Records
import Screen

extension Phrase {
  /// `sent_reply`, `sent_message`, `initiative_post`: channel, length, text.
  mutating func message(_ action: Action) {
    add(action.word("channelName").map { "#\($0)" } ?? id(action.channel).map { "#\($0)" }, .dim)
    if let content = action.content {
      add(content.count == 1 ? "1 char" : "\(content.count) chars", .dim)
    }
    took(action.milliseconds)
    add(action.content)
  }

  /// `reply_skipped`, `initiative_skip`: why.
  mutating func skipped(_ action: Action) {
    add(action.content)
    let reason = action.word("reason") ?? action.metadata?["addressing"]?["reason"]?.text
    if reason != action.content { add(reason, .dim) }
    took(action.milliseconds)
  }

  /// `reacted`: the emoji, why.
  mutating func reaction(_ action: Action) {
    add(action.content)
    add(id(action.channel).map { "#\($0)" }, .dim)
    add(action.word("reason"), .dim)
  }

  /// `memory_fact`: type, confidence, fact.
  mutating func fact(_ action: Action) {
    add(action.word("factType", "fact_type", "type"), .bold)
    if let confidence = action.number("confidence") {
      let style = confidence < 0.5 ? Style.warning : .dim
      add(confidence <= 1 ? Amount.fixed(confidence * 100, 0) + "%" : "\(confidence)", style)
    }
    add(action.content ?? action.word("fact"))
    if let subject = action.word("subjectName") ?? self.subject(action.word("subject")) {
      add("about \(subject)", .dim)
    }
    if let reason = action.word("reason"), reason != "added_new" { add(reason, .dim) }
  }

  private func subject(_ subject: String?) -> String? {
    switch subject {
    case "__lore__": "the community"
    case "__self__": "itself"
    case "__owner__": "the owner"
    default: person(subject)
    }
  }

  /// `memory_reflection_*`: the day and what came of it.
  mutating func reflection(_ action: Action) {
    add(action.word("dateKey"))
    for (name, label) in [
      ("factsExtracted", "extracted"), ("factsSelected", "selected"), ("factsSaved", "saved"),
      ("factsSkipped", "skipped"),
    ] {
      count(action.number(name), label)
    }
    took(action.milliseconds)
    add(action.word("model"), .dim)
    add(action.content)
  }

  /// `automation_*`: number, title, schedule, outcome.
  mutating func automation(_ action: Action) {
    if let number = action.word("automationId"), action.content?.holds("#\(number)") != true {
      add("#\(number)", .dim)
    }
    add(action.word("title"), .bold)
    add(action.content)
    add(action.metadata?["schedule"].flatMap(schedule), .dim)
    add(action.word("runStatus", "status"), .dim)
    if let next = action.word("nextRunAt") { add("next \(next)", .dim) }
  }

  private func schedule(_ value: JSONValue) -> String? {
    func two(_ number: Int64) -> String { number >= 0 && number < 10 ? "0\(number)" : "\(number)" }
    switch value["kind"]?.string {
    case "daily":
      guard let hour = value["hour"]?.integer, let minute = value["minute"]?.integer else {
        return "daily"
      }
      return "daily at \(two(hour)):\(two(minute))"
    case "interval":
      guard let minutes = value["everyMinutes"]?.number else { return "interval" }
      return "every \(Amount.duration(minutes * 60_000))"
    case "once": return "once at \(value["atIso"]?.text ?? "?")"
    default: return value.isNull ? nil : Brief.text(value)
    }
  }

  mutating func failed(_ action: Action) {
    let failure = action.failure
    let content = action.content
    if let failure, let content, failure != content {
      add(content)
      fail(failure)
    } else {
      fail(failure ?? content)
    }
    add(action.word("status").map { "status \($0)" }, .dim)
    if let type = action.word("errorType"), content?.holds(type) != true { add(type, .dim) }
    add(action.word("model", "provider"), .dim)
    took(action.milliseconds)
    add(action.word("currentUrl", "url"), .dim)
    if line.spans.isEmpty { members(action, atMost: 5) }
  }

  /// Any other action: its words, then the plain members of its metadata.
  mutating func generic(_ action: Action) {
    add(action.content)
    took(action.milliseconds)
    members(action, atMost: 5)
  }

  private mutating func members(_ action: Action, atMost most: Int) {
    guard let metadata = action.metadata else { return }
    guard metadata.isObject else {
      add(Brief.text(metadata), .dim)
      return
    }
    let plain = metadata.members.filter { member in
      guard let text = member.value.text, !text.isEmpty, text != action.content else {
        return false
      }
      return !member.name.hasSuffix("Id") && !member.name.hasSuffix("Ms") && member.name != "source"
    }
    for member in plain.prefix(most) {
      let text = Plain.line(member.value.text ?? "", limit: 200)
      add("\(member.name) \(Fit.truncate(text, to: 60))", .dim)
    }
  }
}
