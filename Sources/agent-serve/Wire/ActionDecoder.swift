import Core
import Records

/// Makes an action of its JSON, in either spelling of the wire.
struct ActionDecoder {
  /// The time of an action that names none.
  let now: Timestamp

  /// - Parameters:
  ///   - bytes: one valid JSON object (see `ScanValidator`) in UTF-8.
  ///   - fields: its members.
  /// - Throws: `ActionFault`.
  func decode(
    _ bytes: UnsafeRawBufferPointer, _ fields: ActionFields
  ) throws(ActionFault) -> LoggedAction {
    guard fields.kind.isString, let kind = id(fields.kind) else {
      throw ActionFault(
        fields.kind.isString || fields.kind.isNull ? "no kind" : "kind is not a text")
    }
    return LoggedAction(
      createdAt: try time(fields.createdAt), guild: id(fields.guild),
      channel: id(fields.channel), message: id(fields.message), user: id(fields.user),
      kind: kind, content: fields.content.storedText,
      metadata: fields.metadata.isNull ? nil : JSONText.oneLine(fields.metadata.bytes),
      cost: cost(fields.cost),
      extra: try furtherMembers(of: bytes))
  }

  /// An id or a kind. SQLite ends a text at a NUL, which no real id holds.
  private func id(_ value: ScanValue) -> String? {
    guard let text = value.storedText, !text.isEmpty else { return nil }
    return text.utf8.contains(0) ? text.replacing("\0", with: "\u{fffd}") : text
  }

  /// As the dashboard writes times, so that they order as text.
  private func time(_ value: ScanValue) throws(ActionFault) -> String {
    if value.isNull { return now.rfc3339 }
    guard value.isString, let text = value.string, let time = Timestamp(rfc3339: text),
      (0...253_402_300_799).contains(time.seconds)
    else { throw ActionFault("createdAt is not an RFC 3339 time") }
    return time.rfc3339
  }

  /// A number, also one inside a text; anything else is not a cost.
  private func cost(_ value: ScanValue) -> String? {
    guard let raw = value.rawText, ScanNumber(raw) != nil else { return nil }
    return String(decoding: raw, as: UTF8.self)
  }

  /// The members that rows do not have, as they stand. The id is not among
  /// them: the store numbers by itself.
  private func furtherMembers(of bytes: UnsafeRawBufferPointer) throws(ActionFault) -> String {
    var list: [String] = []
    do throws(ScanFault) {
      var members = try ScanMembers(bytes)
      while try members.next() {
        if Self.known.contains(members.key.unescaped) { continue }
        let name = String(decoding: members.key.bytes, as: UTF8.self)
        list.append("\"\(name)\":\(JSONText.oneLine(members.value.bytes))")
      }
    } catch {
      throw ActionFault(error.reason)
    }
    return list.joined(separator: ",")
  }

  private static let known: Set<String> = [
    "id", "kind", "content", "metadata", "created_at", "createdAt", "guild_id", "guildId",
    "channel_id", "channelId", "message_id", "messageId", "user_id", "userId", "usd_cost",
    "usdCost",
  ]
}

extension ScanValue {
  /// The text of a key, given as what stands between its quotes.
  var unescaped: String {
    guard bytes.contains(0x5c) else { return String(decoding: bytes, as: UTF8.self) }
    // The text lies in the scratch, which must live until it is copied.
    let scratch = ScanScratch()
    return withExtendedLifetime(scratch) {
      String(decoding: scratch.text(of: bytes), as: UTF8.self)
    }
  }
}

/// Why a record is not an action that can be stored: one line for a person.
struct ActionFault: Error, Equatable {
  /// Lower case: `no kind`.
  let reason: String

  /// - Parameter reason: lower case, no full stop.
  init(_ reason: String) { self.reason = reason }
}
