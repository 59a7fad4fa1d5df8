import Core
import Records

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
    let rows = all.map { RecordText().string("id", $0.id).string("name", $0.name).text }
    return "[\(rows.joined(separator: ","))]"
  }

  /// `GET /api/guilds/ID/channels`; none of a guild that is not there.
  func channels(of id: String) -> String {
    let channels = all.first { $0.id == id }?.channels ?? []
    let rows = channels.map { channel in
      RecordText().string("id", channel.id).string("name", channel.name)
        .string("type", channel.type).stringOrNull("category", channel.category).text
    }
    return "[\(rows.joined(separator: ","))]"
  }
}
