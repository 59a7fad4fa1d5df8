import Agent
import Core
import Records
import Screen
import Web

/// `mem-search --mirror`: takes the copy.
extension Memory {
  func mirror() throws -> ExitStatus {
    var isWhole = true
    for guild in try guilds() {
      let fetch = FactFetch(caller: caller, guilds: [guild], diagnostics: diagnostics)
      let found = try fetch.all()
      isWhole = isWhole && found.isWhole
      try keep(
        MirrorFile.Section(
          guild: guild.id, name: guild.name, time: Timestamp.now().rfc3339, isWhole: found.isWhole,
          rows: found.rows))
    }
    return isWhole ? .success : .failure
  }

  private func keep(_ section: MirrorFile.Section) throws {
    let file = try MirrorFile(Folders(), url: caller.backend.base.display)
    try file.replace(section)
    let facts = section.rows.count == 1 ? "1 fact" : "\(section.rows.count) facts"
    try output.record(
      file.record(section, path: file.path),
      facts: [
        ("mirror", .words("\(facts) of guild \(section.guild)")),
        ("path", .words(file.path)),
      ])
  }
}

/// The copy of a backend's facts in the state folder: for each guild a record
/// that says when it was taken, and behind it the facts with their own bytes.
struct MirrorFile {
  struct Section {
    var guild: String
    /// Of the guild; empty when there is none.
    var name: String
    var time: String
    /// False when the backend did not give all.
    var isWhole: Bool
    var rows: [[UInt8]]
  }

  private let file: StateFile
  private let url: String

  var path: String { file.path }

  init(_ folders: Folders, url: String) throws(Failure) {
    self.url = url
    // A file's name has 255 bytes at most.
    let name = String(QueryText.part(url).utf8.suffix(200)) ?? ""
    file = StateFile(path: try folders.stateFile("memory-mirror.\(name).ndjson"))
  }

  func sections() throws(Failure) -> [Section] {
    guard let bytes = try file.read(limit: BoundedFile.largest) else { return [] }
    var sections: [Section] = []
    for line in bytes.split(separator: 10).map(Array.init) {
      if let head = Self.head(line) {
        sections.append(head)
      } else if !sections.isEmpty {
        sections[sections.count - 1].rows.append(line)
      }
    }
    return sections
  }

  func replace(_ section: Section) throws(Failure) {
    var sections = try sections().filter { $0.guild != section.guild }
    sections.append(section)
    var bytes: [UInt8] = []
    for section in sections {
      bytes += record(section, path: nil)
      bytes.append(10)
      for row in section.rows {
        bytes += RowText.line(row)
        bytes.append(10)
      }
    }
    guard bytes.count <= BoundedFile.largest else {
      throw Failure(path, "the copy would be larger than \(BoundedFile.largest) bytes")
    }
    try file.replace(with: bytes)
  }

  /// The record that says what was copied and when.
  func record(_ section: Section, path: String?) -> [UInt8] {
    RecordText(.memoryMirror).string("time", section.time).string("url", url)
      .string("guild_id", section.guild)
      .string("guild_name", section.name.isEmpty ? nil : section.name)
      .number("facts", section.rows.count).bool("whole", section.isWhole)
      .string("path", path.map(FileName.shown)).bytes
  }

  /// Facts have no `type` in front; nothing of theirs is taken for a head.
  private static func head(_ line: [UInt8]) -> Section? {
    guard line.starts(with: Array("{\"type\":\"memory_mirror\",".utf8)),
      let value = JSONValue(line),
      let guild = value["guild_id"]?.string, let time = value["time"]?.string
    else { return nil }
    return Section(
      guild: guild, name: value["guild_name"]?.string ?? "", time: time,
      isWhole: value["whole"]?.bool ?? false, rows: [])
  }
}
