import Agent
import Core
import Screen
import Web

/// What the agent is told of its memory.
extension Memory {
  /// `GET /api/memory/fact-profile`.
  func factProfile() throws -> ExitStatus {
    let text = options.text
    let path = ClankyPath.factProfile(
      user: options.id, guild: try guild(), channel: options.channel,
      text: text.isEmpty ? nil : text)
    return try context(try caller.call(path), path, none: "nothing is loaded")
  }

  /// `POST /api/memory/runtime-snapshot`.
  func snapshot() throws -> ExitStatus {
    let text = options.text
    let members = [
      ("guildId", try guild()), ("channelId", options.channel), ("userId", options.user),
      ("queryText", text.isEmpty ? nil : text), ("mode", options.turn.rawValue),
    ].compactMap { name, value in
      value.map { "\"\(name)\":" + JSONQuote.string($0) }
    }
    let path = ClankyPath.runtimeSnapshot
    let body = Array(("{" + members.joined(separator: ",") + "}").utf8)
    let reply = try caller.call(path, method: "POST", body: body)
    return try context(reply, path, none: "nothing would be told")
  }

  private func context(
    _ reply: Caller.Reply, _ path: String, none: String
  ) throws -> ExitStatus {
    let place = caller.place(path)
    guard case .record(let record) = try Answer(reply, place: place),
      let value = try? record.withUnsafeBytes({ try JSONValue.parse($0) }), value.isObject
    else { throw CallFailure(place, "the answer is no object", .failure) }
    let isEmpty = ContextView.isEmpty(value)
    if isEmpty { tellPerson(none) }
    if !isEmpty || output.form == .json {
      try output.records(
        [record], tsv: { _ in ContextView.tsv(value) },
        lines: { _, width in ContextView.lines(value, width: width) })
    }
    return isEmpty ? .negative : .success
  }
}
