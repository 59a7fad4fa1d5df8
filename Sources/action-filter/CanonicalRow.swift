import Core
import Records

/// An action in the spelling of the dashboard's rows: ten members in their
/// order, null where unknown, a cost of 0; further members behind them. Every
/// value keeps its bytes.
enum CanonicalRow {
  /// Writes one action and a LF.
  ///
  /// - Parameters:
  ///   - fields: the action's members.
  ///   - action: its object.
  ///   - profile: whose it is; absent where that is not said.
  ///   - writer: takes the row.
  static func write(
    _ fields: ActionFields, _ action: ScanValue, _ profile: ScanValue, to writer: RecordWriter
  ) throws(WriteFailure) {
    try put(#"{"id":"#, fields.id, writer)
    try put(#","created_at":"#, fields.createdAt, writer)
    try put(#","guild_id":"#, fields.guild, writer)
    try put(#","channel_id":"#, fields.channel, writer)
    try put(#","message_id":"#, fields.message, writer)
    try put(#","user_id":"#, fields.user, writer)
    try put(#","kind":"#, fields.kind, writer)
    try put(#","content":"#, fields.content, writer)
    try put(#","metadata":"#, fields.metadata, writer)
    try put(#","usd_cost":"#, fields.cost, writer, unknown: "0")
    var members = try? ScanMembers(action.bytes)
    while (try? members?.next()) == true {
      guard let key = members?.key, let value = members?.value, !ActionFields.isMember(key) else {
        continue
      }
      if !profile.isAbsent, RecordScan.isProfile(key) { continue }
      try put(",\"")
      try writer.write(key.bytes)
      try put("\":")
      try writer.write(value.bytes)
    }
    try Self.put(profile, writer)
    try put("}\n")

    func put(_ text: StaticString) throws(WriteFailure) {
      try writer.write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
    func put(
      _ name: StaticString, _ value: ScanValue, _ writer: RecordWriter,
      unknown: StaticString = "null"
    ) throws(WriteFailure) {
      try put(name)
      if value.isNull { try put(unknown) } else { try writer.write(value.bytes) }
    }
  }

  /// Writes a row of a list with its own bytes, and behind them whose it is.
  static func write(
    named profile: ScanValue, _ action: ScanValue, to writer: RecordWriter
  ) throws(WriteFailure) {
    try writer.write(UnsafeRawBufferPointer(rebasing: action.bytes.dropLast()))
    var members = try? ScanMembers(action.bytes)
    try put(profile, writer, isFirst: (try? members?.next()) != true)
    try writer.write("}\n")
  }

  private static func put(
    _ profile: ScanValue, _ writer: RecordWriter, isFirst: Bool = false
  ) throws(WriteFailure) {
    if profile.isAbsent { return }
    try writer.write(isFirst ? "\"profile\":" : ",\"profile\":")
    try writer.write(profile.bytes)
  }
}
