import Core

/// One run in which the agent went over a day and chose what to remember
/// (Agent/Clanky/CONTRACT.md 5.2), put together from its actions.
struct ReflectionRun {
  private var start: StoredAction?
  private var end: StoredAction?
  /// Its actions' ids.
  private(set) var actions: [Int64] = []

  /// Takes one of its actions; of several equal ones the first that is given.
  mutating func add(_ action: StoredAction) {
    actions.append(action.id)
    if action.action.kind == "memory_reflection_start" {
      start = start ?? action
    } else {
      end = end ?? action
    }
  }

  /// What runs are ordered by.
  var time: String { (start ?? end)?.action.createdAt ?? "" }

  /// The row of the answer.
  var json: String {
    var texts = (start?.action.metadata ?? "{}", end?.action.metadata ?? "{}")
    return texts.0.withUTF8 { first in
      texts.1.withUTF8 { last in
        json(
          ScanObject(UnsafeRawBufferPointer(first)) ?? ScanObject(),
          ScanObject(UnsafeRawBufferPointer(last)) ?? ScanObject())
      }
    }
  }

  /// - Parameters:
  ///   - first: what the start told.
  ///   - last: what the end told; it counts first.
  private func json(_ first: ScanObject, _ last: ScanObject) -> String {
    func text(_ name: String) -> String {
      JSONText.quoted(last.text(name) ?? first.text(name))
    }
    func number(_ name: String) -> Double? {
      for object in [last, first] where !object[name].isNull {
        if let number = object.number(name) { return number }
      }
      return nil
    }
    func numberOrNull(_ name: String) -> String { number(name).map(JSONText.number) ?? "null" }
    func count(_ name: String) -> String { JSONText.number(number(name) ?? 0) }
    func list(_ name: String) -> String {
      last[name].isArray ? last.json(name) : first[name].isArray ? first.json(name) : "[]"
    }
    let row = (start ?? end)?.action
    let failed = end?.action.kind == "memory_reflection_error"
    let status = end == nil ? "running" : failed ? "error" : "completed"
    let ended = JSONText.quoted(end?.action.createdAt)
    let guild = JSONText.quoted(last.text("guildId") ?? first.text("guildId") ?? row?.guild)
    return """
      {"runId":\(text("runId")),"dateKey":\(text("dateKey")),"guildId":\(guild),\
      "channelId":\(JSONText.quoted(row?.channel)),"status":"\(status)",\
      "startedAt":\(JSONText.quoted(start?.action.createdAt)),\
      "completedAt":\(failed ? "null" : ended),"erroredAt":\(failed ? ended : "null"),\
      "durationMs":\(duration ?? "null"),"strategy":\(text("strategy")),\
      "provider":\(text("provider")),"model":\(text("model")),\
      "extractorProvider":\(text("extractorProvider")),\
      "extractorModel":\(text("extractorModel")),\
      "adjudicatorProvider":\(text("adjudicatorProvider")),\
      "adjudicatorModel":\(text("adjudicatorModel")),"usdCost":\(JSONText.number(cost)),\
      "maxFacts":\(numberOrNull("maxFacts")),\
      "journalEntryCount":\(numberOrNull("journalEntryCount")),\
      "authorCount":\(numberOrNull("authorCount")),"factsExtracted":\(count("factsExtracted")),\
      "factsSelected":\(count("factsSelected")),"factsAdded":\(count("factsAdded")),\
      "factsSaved":\(count("factsSaved")),"factsSkipped":\(count("factsSkipped")),\
      "extractedFacts":\(list("extractedFacts")),"selectedFacts":\(list("selectedFacts")),\
      "savedFacts":\(list("savedFacts")),"skippedFacts":\(list("skippedFacts")),\
      "rawResponseText":\(text("rawResponseText")),\
      "usage":\(last["usage"].isNull ? first.json("usage") : last.json("usage")),\
      "reflectionPasses":\(list("reflectionPasses")),\
      "startContent":\(JSONText.quoted(start?.action.content)),\
      "completionContent":\(failed ? "null" : JSONText.quoted(end?.action.content)),\
      "errorContent":\(failed ? JSONText.quoted(end?.action.content) : "null")}
      """
  }

  private var cost: Double { (start?.action.usd ?? 0) + (end?.action.usd ?? 0) }

  /// Milliseconds between its two actions, whatever they tell of it.
  private var duration: String? {
    guard let start = start.flatMap({ Timestamp(rfc3339: $0.action.createdAt) }),
      let end = end.flatMap({ Timestamp(rfc3339: $0.action.createdAt) }), end >= start
    else { return nil }
    return String(
      (end.seconds - start.seconds) * 1000
        + Int64(end.nanoseconds / 1_000_000 - start.nanoseconds / 1_000_000))
  }
}
