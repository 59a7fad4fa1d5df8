import Core
import Records

/// What the actions of a dashboard tell of turns (Agent/Clanky/CONTRACT.md 3.6), in either
/// spelling, bare, wrapped or in lists, each once. Actions of one agent are put into their
/// turns by what they name, or by place and time.
public struct ClankyTurns: TurnDecoder {
  private var agents: [RecordOrigin: ClankyAgent] = [:]
  private var seen = ActionWindow(capacity: 1 << 16)
  private var lineScan = RecordScan()
  private var rowScan = RecordScan()
  private let scratch = ScanScratch()

  /// More agents than anyone has; a file may name as many as it likes.
  private static let mostAgents = 64

  public init() {}

  public mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool {
    let origin = line.origin(.clanky)
    switch line.shape {
    case .action:
      // `session.message` of a gateway has a kind and a creation, too.
      if line.eventName.bytes.contains(UInt8(ascii: ".")) { return false }
      guard (try? lineScan.read(line.bytes)) == .action else { return false }
      // What has a kind and was created at no time is something else.
      guard !lineScan.fields.createdAt.isNull else { return false }
      receive(lineScan.fields, lineScan.source, origin, into: &events)
    case .list:
      guard (try? lineScan.read(line.bytes)) == .list else { return false }
      guard var rows = try? ScanElements(lineScan.rows.bytes) else { return true }
      var elements: [ScanValue] = []
      while (try? rows.next()) == true { elements.append(rows.value) }
      // Servers send the newest first.
      for row in elements.reversed() where (try? rowScan.read(row.bytes)) == .action {
        receive(rowScan.fields, .row, origin, into: &events)
      }
    case .stats, .voiceState: break
    case .own, .event, .unmarked: return false
    }
    return true
  }

  /// Tells of what came in order so far.
  public mutating func pause(into events: inout [TurnEvent]) {
    for origin in origins { agents[origin]?.pause(into: &events) }
  }

  /// Tells of what still waited for its turn, at the end of what is read.
  public mutating func finish(into events: inout [TurnEvent]) {
    for origin in origins { agents[origin]?.finish(into: &events) }
    agents.removeAll()
  }

  private var origins: [RecordOrigin] {
    agents.keys.sorted { $0.profile ?? "" < $1.profile ?? "" }
  }

  private mutating func receive(
    _ fields: ActionFields, _ source: ActionWindow.Source, _ origin: RecordOrigin,
    into events: inout [TurnEvent]
  ) {
    guard let kind = fields.kind.string, ClankyAgent.isTold(kind) else { return }
    // A string of JSON; no two names become the same.
    let profile = Array("\"\(origin.profile ?? "")\"".utf8)
    let isNew = profile.withUnsafeBytes { name in
      seen.isNew(
        fields, source, profile: origin.profile == nil ? .absent : ScanValue(name), scratch)
    }
    guard isNew else { return }
    if agents[origin] == nil, agents.count == Self.mostAgents { finish(into: &events) }
    agents[origin, default: ClankyAgent(origin)].receive(
      ClankyAction(fields, kind: kind, origin), into: &events)
  }
}
