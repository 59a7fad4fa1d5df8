import Core
import Records

/// One action of a dashboard, as long as its bytes are there.
struct ClankyAction {
  let fields: ActionFields
  /// Never empty.
  let kind: String
  let origin: RecordOrigin
  let time: Timestamp?

  init(_ fields: ActionFields, kind: String, _ origin: RecordOrigin) {
    (self.fields, self.kind, self.origin) = (fields, kind, origin)
    time = fields.createdAt.string.flatMap { Timestamp(rfc3339: $0) }
  }

  /// The row's id; without one its time and kind, which are the same wherever it is read.
  var id: String { fields.id.string ?? "\(fields.createdAt.string ?? "")/\(kind)" }
  var content: String? { fields.content.storedText }
  var user: String? { fields.user.storedText }
  var message: String? { fields.message.storedText }
  /// What happens outside of any channel belongs to the guild, or to the agent itself.
  var place: String { fields.channel.storedText ?? fields.guild.storedText ?? "agent" }
  /// US dollars; nil for 0, which is what a row has when nobody knows.
  var cost: Double? {
    ScanNumber(fields.cost).flatMap { $0.isZero || !$0.double.isFinite ? nil : $0.double }
  }

  /// The action as a row, with these members of its metadata alone: prompts are long.
  func copy(with members: [StaticString]) -> [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "{")]
    func add(_ name: StaticString, _ value: ScanValue) {
      if value.isAbsent { return }
      if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
      bytes.append(UInt8(ascii: "\""))
      bytes.append(contentsOf: name.bytes)
      bytes += [UInt8(ascii: "\""), UInt8(ascii: ":")]
      bytes.append(contentsOf: value.bytes)
    }
    add("id", fields.id)
    add("created_at", fields.createdAt)
    add("guild_id", fields.guild)
    add("channel_id", fields.channel)
    add("message_id", fields.message)
    add("user_id", fields.user)
    add("kind", fields.kind)
    add("content", fields.content)
    add("usd_cost", fields.cost)
    let metadata = metadata(members)
    bytes += Array(",\"metadata\":{".utf8)
    for name in members { add(name, metadata[name]) }
    bytes += Array("}}".utf8)
    return bytes
  }

  func metadata(_ names: [StaticString]) -> ClankyMembers {
    ClankyMembers(names, of: fields.metadata)
  }
}

struct ClankyMembers {
  private let names: [StaticString]
  private var values: [ScanValue]

  init(_ names: [StaticString], of object: ScanValue) {
    self.names = names
    values = Array(repeating: .absent, count: names.count)
    guard object.isObject, var members = try? ScanMembers(object.bytes) else { return }
    while (try? members.next()) == true {
      for (index, name) in names.enumerated() where members.isKey(name) {
        values[index] = members.value
      }
    }
  }

  subscript(_ name: StaticString) -> ScanValue {
    names.firstIndex { $0.bytes.elementsEqual(name.bytes) }.map { values[$0] } ?? .absent
  }

  func text(_ name: StaticString) -> String? {
    guard let text = self[name].string, !text.isEmpty else { return nil }
    return text
  }

  /// A whole number; nil when it is none, or too large.
  func count(_ name: StaticString) -> Int? {
    ScanNumber(self[name]).flatMap { Int(exactly: $0.double.rounded()) }
  }

  func isTrue(_ name: StaticString) -> Bool { self[name].isTrue }

  /// One JSON value with its bytes; nil when it is null or not there.
  func json(_ name: StaticString) -> [UInt8]? { self[name].json }

  func usage(_ name: StaticString) -> TurnRecord.Usage? {
    let usage = ClankyMembers(["inputTokens", "outputTokens"], of: self[name])
    let (input, output) = (usage.count("inputTokens"), usage.count("outputTokens"))
    guard input != nil || output != nil else { return nil }
    return TurnRecord.Usage(inputTokens: input, outputTokens: output)
  }
}
