import Core
import Records

/// The members that `-o FIELD,...` prints of each action, in that order.
struct Projection: Equatable {
  private enum Source: Equatable {
    case id, createdAt, guild, channel, message, user, kind, content, metadata, cost, level
    /// Whose it is; where that is not said a member of that name: its index in `others`.
    case profile(Int)
    /// A place in the metadata: its index in `pointers`.
    case pointer(Int)
    /// A member of another name: its index in `others`.
    case other(Int)
  }

  private struct Field: Equatable {
    /// Where in `text` what comes before the value stands: `,"kind":`.
    let lead: Range<Int>
    let source: Source
  }

  private var fields: [Field] = []
  private var pointers: [JSONPointer] = []
  private var others: [[UInt8]] = []
  /// One array for all, so that nothing is counted as held for each record.
  private var text: [UInt8] = []

  static let names = [
    "id", "created_at", "guild_id", "channel_id", "message_id", "user_id", "kind", "content",
    "metadata", "usd_cost",
  ]

  init(_ list: String) throws(UsageError) {
    var seen: Set<String> = []
    for part in list.split(separator: ",", omittingEmptySubsequences: false) {
      let name = String(part)
      guard !name.isEmpty else { throw UsageError("--output \(list): a name is missing") }
      guard seen.insert(name).inserted else {
        throw UsageError("--output \(list): \(name) is named twice")
      }
      let lead = (fields.isEmpty ? "{" : ",") + JSONQuote.string(name) + ":"
      let start = text.count
      text += Array(lead.utf8)
      fields.append(Field(lead: start..<text.count, source: try source(name, list)))
    }
  }

  private mutating func source(_ name: String, _ list: String) throws(UsageError) -> Source {
    switch name {
    case "id": return .id
    case "created_at": return .createdAt
    case "guild_id": return .guild
    case "channel_id": return .channel
    case "message_id": return .message
    case "user_id": return .user
    case "kind": return .kind
    case "content": return .content
    case "metadata": return .metadata
    case "usd_cost": return .cost
    case "level": return .level
    case "profile":
      others.append(Array(name.utf8))
      return .profile(others.count - 1)
    default: break
    }
    guard name.hasPrefix("/") else {
      others.append(Array(name.utf8))
      return .other(others.count - 1)
    }
    do throws(UsageError) {
      pointers.append(try JSONPointer(name))
      return .pointer(pointers.count - 1)
    } catch {
      throw UsageError("--output \(list): \(error.problem)")
    }
  }

  /// Writes one object and a LF: null for what is not there, a cost of 0 when
  /// it is unknown, and every value with its own bytes.
  func write(
    _ members: ActionFields, _ action: ScanValue, _ profile: ScanValue, to writer: RecordWriter
  ) throws(WriteFailure) {
    try text.withUnsafeBufferPointer { text throws(WriteFailure) in
      try write(members, action, profile, UnsafeRawBufferPointer(text), to: writer)
    }
  }

  @inline(__always)
  private func write(
    _ members: ActionFields, _ action: ScanValue, _ profile: ScanValue,
    _ text: UnsafeRawBufferPointer, to writer: RecordWriter
  ) throws(WriteFailure) {
    let found = others.isEmpty ? [] : values(of: action)
    for field in fields {
      try writer.write(UnsafeRawBufferPointer(rebasing: text[field.lead]))
      var unknown: StaticString = "null"
      let value: ScanValue
      switch field.source {
      case .id: value = members.id
      case .createdAt: value = members.createdAt
      case .guild: value = members.guild
      case .channel: value = members.channel
      case .message: value = members.message
      case .user: value = members.user
      case .kind: value = members.kind
      case .content: value = members.content
      case .metadata: value = members.metadata
      case .cost: (value, unknown) = (members.cost, "0")
      case .level: value = members.level
      case .profile(let index): value = profile.isAbsent ? found[index] : profile
      case .pointer(let index): value = pointers[index].resolve(members.metadata)
      case .other(let index): value = found[index]
      }
      if value.isNull { try Self.put(unknown, writer) } else { try writer.write(value.bytes) }
    }
    try Self.put("}\n", writer)
  }

  private static func put(_ text: StaticString, _ writer: RecordWriter) throws(WriteFailure) {
    try writer.write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private func values(of action: ScanValue) -> [ScanValue] {
    var found = [ScanValue](repeating: .absent, count: others.count)
    // The action was read once: there is nothing to go wrong any more.
    guard var members = try? ScanMembers(action.bytes) else { return found }
    while (try? members.next()) == true {
      for (index, name) in others.enumerated()
      where name.withUnsafeBytes({ members.isKey($0) }) { found[index] = members.value }
    }
    return found
  }
}
