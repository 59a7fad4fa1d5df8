import Core

/// The agent's guilds and their channels (Agent/Clanky/CONTRACT.md 5.7).
struct Guilds {
  /// One guild.
  struct Guild {
    let id: String
    let name: String
    fileprivate let channels: [Channel]

    /// The ids of its text channels.
    var textChannels: [String] { channels.filter { $0.type == "text" }.map(\.id) }
  }

  fileprivate struct Channel {
    let id: String
    let name: String
    let type: String
    let category: String?

    init(_ row: ScanObject) {
      id = row.text("id") ?? ""
      name = row.text("name") ?? ""
      type = row.text("type") == "voice" ? "voice" : "text"
      category = row.text("category")
    }

    /// Those of no category first, then by category, then by name.
    static func precedes(_ a: Channel, _ b: Channel) -> Bool {
      let (first, second) = (a.category ?? "", b.category ?? "")
      if first != second { return first < second }
      return a.name < b.name
    }
  }

  /// In the order in which they were put.
  let all: [Guild]

  /// - Parameter document: passed `Document.check`.
  init(_ document: [UInt8]) {
    all = document.withUnsafeBytes { bytes in
      (ScanObject.list(bytes) ?? []).map { row in
        Guild(
          id: row.text("id") ?? "", name: row.text("name") ?? "",
          channels: row.objects("channels").map(Channel.init).sorted(by: Channel.precedes))
      }
    }
  }

  /// `GET /api/guilds`.
  var json: String {
    let rows = all.map { "{\"id\":\(JSONText.quoted($0.id)),\"name\":\(JSONText.quoted($0.name))}" }
    return "[\(rows.joined(separator: ","))]"
  }

  /// `GET /api/guilds/ID/channels`; none of a guild that is not there.
  func channels(of id: String) -> String {
    let channels = all.first { $0.id == id }?.channels ?? []
    let rows = channels.map { channel in
      """
      {"id":\(JSONText.quoted(channel.id)),"name":\(JSONText.quoted(channel.name)),\
      "type":"\(channel.type)","category":\(JSONText.quoted(channel.category))}
      """
    }
    return "[\(rows.joined(separator: ","))]"
  }
}
