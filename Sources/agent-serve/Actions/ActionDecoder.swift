import Core

/// Reads one action from JSON, in either spelling of the wire.
struct ActionDecoder {
  /// The time of an action that names none.
  let now: Timestamp

  /// An action's members.
  ///
  /// Of a key given twice the last one counts; of the two spellings of a member
  /// the one that is not null. `id` is dropped: the store numbers by itself.
  ///
  /// - Parameter bytes: one valid JSON object (see `ScanValidator`) in UTF-8.
  /// - Throws: `ActionFault`.
  func decode(_ bytes: UnsafeRawBufferPointer) throws(ActionFault) -> LoggedAction {
    var kind = ScanValue.absent
    var content = ScanValue.absent
    var metadata = ScanValue.absent
    var spelled = Spelled()
    var extra: [(key: ScanValue, value: ScanValue)] = []
    do throws(ScanFault) {
      var members = try ScanMembers(bytes)
      while try members.next() {
        let value = members.value
        switch members.keyText {
        case "id": break
        case "kind": kind = value
        case "content": content = value
        case "metadata": metadata = value
        case "created_at", "createdAt": spelled.take(\.createdAt, value)
        case "guild_id", "guildId": spelled.take(\.guild, value)
        case "channel_id", "channelId": spelled.take(\.channel, value)
        case "message_id", "messageId": spelled.take(\.message, value)
        case "user_id", "userId": spelled.take(\.user, value)
        case "usd_cost", "usdCost": spelled.take(\.cost, value)
        default: extra.append((members.key, value))
        }
      }
    } catch {
      throw ActionFault(error.reason)
    }
    guard kind.isString, let name = id(kind), !name.isEmpty else {
      throw ActionFault(kind.isNull ? "kind is missing" : "kind is not a text")
    }
    return LoggedAction(
      createdAt: try time(spelled.createdAt), guild: id(spelled.guild),
      channel: id(spelled.channel), message: id(spelled.message), user: id(spelled.user),
      kind: name, content: content.isNull ? nil : content.string ?? oneLine(content),
      metadata: metadata.isNull ? nil : oneLine(metadata), cost: cost(spelled.cost),
      extra: members(extra))
  }

  private struct Spelled {
    var createdAt = ScanValue.absent
    var guild = ScanValue.absent
    var channel = ScanValue.absent
    var message = ScanValue.absent
    var user = ScanValue.absent
    var cost = ScanValue.absent

    mutating func take(_ member: WritableKeyPath<Spelled, ScanValue>, _ value: ScanValue) {
      if !value.isNull || self[keyPath: member].isNull { self[keyPath: member] = value }
    }
  }

  /// An id or a kind: numbers count as their digits. SQLite ends a text at a
  /// NUL, which no real id holds.
  private func id(_ value: ScanValue) -> String? {
    guard let text = value.string, !text.isEmpty else { return nil }
    return text.utf8.contains(0) ? text.replacing("\0", with: "\u{fffd}") : text
  }

  private func time(_ value: ScanValue) throws(ActionFault) -> String {
    if value.isNull { return now.rfc3339 }
    guard value.isString, let text = value.string, let time = Timestamp(rfc3339: text),
      (0...253_402_300_799).contains(time.seconds)
    else { throw ActionFault("createdAt is not an RFC 3339 time") }
    return time.rfc3339
  }

  /// A number, also one inside a text; anything else is no cost.
  private func cost(_ value: ScanValue) -> String? {
    guard let raw = value.rawText, ScanNumber(raw) != nil else { return nil }
    return String(decoding: raw, as: UTF8.self)
  }

  /// JSON as it stands; line ends, which can only be white space between its
  /// tokens, are left out.
  private func oneLine(_ value: ScanValue) -> String {
    let bytes = value.bytes
    if !bytes.contains(10) && !bytes.contains(13) { return String(decoding: bytes, as: UTF8.self) }
    return String(decoding: bytes.filter { $0 != 10 && $0 != 13 }, as: UTF8.self)
  }

  private func members(_ list: [(key: ScanValue, value: ScanValue)]) -> String {
    list.map { "\"\(String(decoding: $0.key.bytes, as: UTF8.self))\":\(oneLine($0.value))" }
      .joined(separator: ",")
  }
}

/// Why a record is no action that can be stored: one line for a person.
struct ActionFault: Error, Equatable {
  /// Lower case: `kind is missing`.
  let reason: String

  /// - Parameter reason: lower case, no full stop.
  init(_ reason: String) { self.reason = reason }
}
