import CLibc
import Core

/// What people know by a name, and records by an id.
public enum NamedKind: String, CaseIterable, Sendable {
  case user, guild
}

/// A name that something told.
public struct ToldName: Hashable, Sendable {
  /// What has it.
  public let kind: NamedKind
  /// The id of that.
  public let id: String
  /// As it was told.
  public let name: String

  public init(_ kind: NamedKind, id: String, name: String) {
    (self.kind, self.id, self.name) = (kind, id, name)
  }

  /// The record that tells it, see agentutils-records(5).
  public var record: [UInt8] {
    RecordText(.name).string("of", kind.rawValue).string("id", id).string("name", name).bytes
  }
}

/// Finds the names that records tell: those of users in voice sessions and in the events
/// of voice, those of guilds in their list, and both in records of type `name`.
public struct NameScan {
  private var record = RecordScan()
  private var found: [ToldName] = []

  /// What every line has in it that tells a name, but for odd escapes.
  public static let mark = Array("ame\"".utf8)

  /// Ready for the first line.
  public init() {}

  /// The names in a line; none in what cannot be read.
  ///
  /// - Parameter line: one record.
  public mutating func names(in line: UnsafeRawBufferPointer) -> [ToldName] {
    found.removeAll(keepingCapacity: true)
    if let shape = try? record.read(line) {
      read(shape)
    } else if let torn = TornLine(line) {
      for part in torn.records { if let shape = try? record.read(part) { read(shape) } }
    }
    return found
  }

  private mutating func read(_ shape: RecordShape) {
    switch shape {
    case .action: add(record.fields)
    case .list:
      for row in Self.elements(record.rows) {
        if let fields = try? ActionFields(row.bytes) { add(fields) }
      }
      add(sessionsOf: Self.member("runtime", record.stats))
    case .stats: add(sessionsOf: record.runtime)
    case .voiceState: add(sessions: Self.member("sessions", record.object))
    case .own: if record.type.isText("name") { add(own: record.object) }
    case .event:
      if record.event.isText("guilds") {
        for guild in Self.elements(record.data) {
          add(.guild, Self.member("id", guild), Self.member("name", guild))
        }
      }
    case .unmarked: break
    }
  }

  /// Hands over the names that a file tells; none of a pipe, which can be read but once.
  ///
  /// - Parameter path: a name; `-` is standard input. What cannot be read is for those to say who
  ///   read it afterwards.
  public static func read(_ path: String, receive: (ToldName) -> Void) {
    var scan = NameScan()
    readLines(path) { line in
      for told in scan.names(in: line) { receive(told) }
    }
  }

  /// Hands over the lines of a file that is no pipe, and goes back to where it was.
  public static func readLines(_ path: String, receive: (UnsafeRawBufferPointer) -> Void) {
    // What is opened there may share its place with a descriptor of ours.
    guard !path.hasPrefix("/dev/"), FileIdentity(path: path) != nil else { return }
    let start = path == "-" ? lseek(0, 0, SEEK_CUR) : 0
    guard var input = try? RecordInput(path: path) else { return }
    while let line = try? input.next() { receive(line.bytes) }
    if path == "-" { lseek(0, start, SEEK_SET) }
  }

  /// An event of voice names who speaks, comes or goes; not what the agent says itself.
  private mutating func add(_ fields: ActionFields) {
    let metadata = fields.metadata
    guard metadata.isObject, let kind = fields.kind.rawText,
      ActionKind.domain(of: kind) == .voice,
      !Self.member("transcriptSource", metadata).isText("output")
    else { return }
    let member = Self.member("memberUserId", metadata)
    let speaker = Self.member("speakerName", metadata)
    add(
      .user, member.isNull ? fields.user : member,
      speaker.isNull ? Self.member("displayName", metadata) : speaker)
  }

  private mutating func add(sessionsOf runtime: ScanValue) {
    add(sessions: Self.member("sessions", Self.member("voice", runtime)))
  }

  private mutating func add(sessions: ScanValue) {
    for session in Self.elements(sessions) {
      for person in Self.elements(Self.member("participants", session)) {
        add(.user, Self.member("userId", person), Self.member("displayName", person))
      }
    }
  }

  private mutating func add(own record: ScanValue) {
    guard let kind = Self.member("of", record).string.flatMap(NamedKind.init) else { return }
    add(kind, Self.member("id", record), Self.member("name", record))
  }

  private mutating func add(_ kind: NamedKind, _ id: ScanValue, _ name: ScanValue) {
    guard name.isString, let name = name.string, !name.isEmpty else { return }
    guard id.isString || id.isNumber, let id = id.string, !id.isEmpty else { return }
    found.append(ToldName(kind, id: id, name: name))
  }

  private static func elements(_ list: ScanValue) -> [ScanValue] {
    guard list.isArray, var elements = try? ScanElements(list.bytes) else { return [] }
    var values: [ScanValue] = []
    while (try? elements.next()) == true { values.append(elements.value) }
    return values
  }

  private static func member(_ name: String, _ object: ScanValue) -> ScanValue {
    guard object.isObject else { return .absent }
    return (try? ScanMembers.value(of: name, in: object.bytes)) ?? .absent
  }
}
