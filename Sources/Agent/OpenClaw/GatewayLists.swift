import Core
import Records

/// Rows of a gateway's lists.
enum GatewayLists {
  /// The elements of an array, as they came.
  ///
  /// - Parameters:
  ///   - name: of the member that holds it.
  ///   - payload: an object, or the array itself.
  static func elements(_ name: String, in payload: ScanValue) -> [[UInt8]] {
    var list = payload
    if payload.isObject {
      list = (try? ScanMembers.value(of: name, in: payload.bytes)) ?? .absent
    }
    guard list.isArray, var elements = try? ScanElements(list.bytes) else { return [] }
    var rows: [[UInt8]] = []
    while (try? elements.next()) == true {
      // White space of an object that was written over several lines.
      rows.append(elements.value.bytes.map { $0 == 10 || $0 == 13 ? 32 : $0 })
    }
    return rows
  }

  /// The conversations of `sessions.list`.
  static func threads(_ payload: JSONValue?, _ origin: RecordOrigin) -> [ThreadRecord] {
    let rows = payload?["sessions"]?.elements ?? payload?.elements ?? []
    return rows.compactMap { row in
      guard let key = row[either: "key", "sessionKey"]?.string else { return nil }
      let time = row[either: "updatedAt", "lastActivityAt"]?.instant
      var thread = ThreadRecord(origin, id: key, time: time)
      thread.title = row[either: "displayName", "label", "title", "subject"]?.string
      thread.agent = row["agentId"]?.string ?? agent(of: key)
      thread.messages = row["messageCount"]?.integer.map(Int.init(clamping:))
      thread.last = time
      if let archived = row["archived"]?.bool { thread.state = archived ? .archived : .active }
      return thread
    }
  }

  /// `heron` of `agent:heron:main`.
  static func agent(of key: String) -> String? {
    let parts = key.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count > 2 && parts[0] == "agent" ? String(parts[1]) : nil
  }
}

extension JSONValue {
  /// An instant that is told in milliseconds since 1970; nil for what no calendar has.
  var instant: Timestamp? {
    guard let number, number.magnitude < 2.5e14 else { return nil }
    return Timestamp(milliseconds: Int64(number))
  }
}
