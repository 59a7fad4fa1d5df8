public import Core
import Records
import Web

extension ActionPages {
  /// A row and what decides its place.
  public struct Row {
    /// As it came.
    public let bytes: [UInt8]
    /// The id as text; empty when there is none.
    public private(set) var id = ""
    /// Nil when it has no time that can be read: such a row does not wait.
    public private(set) var time: Timestamp?
    /// Empty when there is none.
    public private(set) var kind = ""
    /// Empty when there is none.
    public private(set) var guild = ""

    /// - Parameter bytes: a row as it came, an action or not.
    public init(_ bytes: [UInt8]) {
      self.bytes = bytes
      let found = bytes.withUnsafeBytes { bytes -> (String, Timestamp?, String, String)? in
        guard let fields = try? ActionFields(bytes) else { return nil }
        let time = fields.createdAt.string.flatMap { Timestamp(rfc3339: $0) }
        return (
          fields.id.string ?? "", time, fields.kind.string ?? "", fields.guild.string ?? ""
        )
      }
      guard let found else { return }
      (id, time, kind, guild) = found
    }
  }

  enum RowKey: Hashable {
    case id(String)
    /// The row itself and its number among equal ones of an answer.
    case bytes([UInt8], Int)
  }
}

struct ActionIDs {
  private var found: [(id: Int64, time: Timestamp?)] = []
  private(set) var areNumbers = true

  mutating func add(_ id: String, _ time: Timestamp?) {
    if let number = Int64(id) { found.append((number, time)) } else { areNumbers = false }
  }

  var count: Int { found.count }

  /// The smallest; nil when there is none, or one is not a number.
  var least: Int64? { areNumbers ? found.map(\.id).min() : nil }

  var most: Int64? { areNumbers ? found.map(\.id).max() : nil }

  /// Nil when that cannot be told. Newer than `blind`, one answer had all: holes are removals.
  func missing(after bound: Timestamp?, before blind: Timestamp? = nil) -> Int64? {
    guard var least = found.map(\.id).min(), var most = found.map(\.id).max() else { return nil }
    if let blind {
      // Ids follow time but roughly.
      let newer = found.filter { row in row.time.map { $0 > blind } ?? false }.map(\.id)
      let older = found.filter { row in row.time.map { $0 <= blind } ?? true }.map(\.id)
      most = max(older.max() ?? least, newer.min() ?? most)
    }
    if let bound {
      var newer = Int64.max
      for (id, time) in found {
        if let time, time <= bound { least = max(least, id) } else { newer = min(newer, id) }
      }
      if newer == .max { return 0 }
      least = max(least, newer)
    }
    if least > most { return 0 }
    let count = Int64(found.count { $0.id >= least && $0.id <= most })
    let (span, overflow) = most.subtractingReportingOverflow(least)
    return overflow || span == .max ? nil : span + 1 - count
  }
}

/// The kinds and guilds that were seen in actions: what a backend can be asked
/// for besides what everybody knows.
///
/// Bounded, for the names come from outside.
public struct ActionNames: Sendable {
  static let most = 500
  private static let longest = 200

  private var seenKinds: Set<String> = []
  private var seenGuilds: Set<String> = []
  /// The kinds, in the order they were first seen.
  public private(set) var kinds: [String] = []
  /// The guilds, in the order they were first seen.
  public private(set) var guilds: [String] = []

  /// No names.
  public init() {}

  /// Notes the names of an action.
  ///
  /// - Parameters:
  ///   - kind: empty for none.
  ///   - guild: empty for none.
  public mutating func note(kind: String, guild: String) {
    Self.note(kind, &seenKinds, &kinds)
    Self.note(guild, &seenGuilds, &guilds)
  }

  private static func note(_ name: String, _ seen: inout Set<String>, _ names: inout [String]) {
    guard !name.isEmpty, names.count < most, name.utf8.count <= longest,
      seen.insert(name).inserted
    else { return }
    names.append(name)
  }
}

/// Where the rows of a snapshot begin and end: what belongs before them.
struct SnapshotEdge {
  private let rows: [ActionPages.Row]
  private let ids: Set<String>
  private let oldest: Timestamp?
  private let latest: Timestamp?

  init(_ rows: [UnsafeRawBufferPointer]) {
    self.rows = rows.map { ActionPages.Row(Array($0)) }
    ids = Set(self.rows.map(\.id)).subtracting([""])
    oldest = self.rows.compactMap(\.time).min()
    latest = self.rows.compactMap(\.time).max()
  }

  func holds(_ row: ActionPages.Row) -> Bool { ids.contains(row.id) }

  /// Whether such an action is in the snapshot or comes live: only its oldest instant may be cut.
  func isBehind(_ time: Timestamp) -> Bool {
    guard let oldest, let latest else { return false }
    return time > latest || (time == latest && latest > oldest)
  }

  func rows(before others: [ActionPages.Row]) -> [ActionPages.Row] {
    let newest = others.filter { $0.time == oldest }.compactMap { Int64($0.id) }.max()
    guard let oldest, let newest else { return [] }
    return rows.filter { $0.time == oldest && Int64($0.id).map { $0 < newest } ?? false }
  }
}

extension [ActionPages.Row] {
  /// By time, and where all have a number by that.
  func newestFirst() -> [ActionPages.Row] {
    let numbers = map { Int64($0.id) }
    let areNumbers = !numbers.contains(nil)
    let order = indices.sorted { a, b in
      if let x = self[a].time, let y = self[b].time, x != y { return x > y }
      if areNumbers, let x = numbers[a], let y = numbers[b], x != y { return x > y }
      return a < b
    }
    return order.map { self[$0] }
  }
}
