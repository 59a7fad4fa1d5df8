import Core
import Records
import Web

extension ActionPages {
  /// What one request asks for.
  public struct Query: Equatable, Sendable {
    /// All kinds when nil.
    public var kinds: [String]?
    /// All guilds when nil.
    public var guild: String?
    /// Rows newer than this are in hand already.
    var bound: Timestamp?

    /// The path behind the dashboard's URL, query included.
    ///
    /// - Parameter hours: the window until now, as `hours(_:)` writes it; nil for none.
    public func path(limit: Int, sinceHours hours: String? = nil) -> String {
      ClankyPath.actions(guild: guild, kinds: kinds, sinceHours: hours, limit: limit)
    }

    /// Whether the backend can be asked for it: it cuts lists at commas and strips blanks.
    static func canName(_ name: String) -> Bool {
      let bytes = name.utf8
      guard let first = bytes.first, let last = bytes.last, bytes.count <= 500 else { return false }
      return first > 32 && last > 32 && !bytes.contains(UInt8(ascii: ","))
    }
  }

  /// The value of `sinceHours` for a window of so many seconds: a decimal number
  /// of millionths, above zero.
  public static func hours(_ seconds: Double) -> String {
    let millionths = Int64((max(1e-6, min(seconds / 3600, 1e9)) * 1e6).rounded(.up))
    var digits = String(1_000_000 + millionths % 1_000_000).dropFirst()
    while digits.hasSuffix("0") { digits.removeLast() }
    return "\(millionths / 1_000_000)" + (digits.isEmpty ? "" : ".\(digits)")
  }
}

extension ActionPages {
  /// Bytes of kinds in a request: servers bound the length of what they are asked.
  private static let longestList = 3000

  /// Asks for less at a time than a query whose answer was full.
  mutating func split(_ query: Query, oldest: Timestamp) {
    guard let kinds = query.kinds else {
      blindBefore = max(blindBefore ?? oldest, oldest)
      let kinds = nameableKinds(before: oldest)
      ask(kinds.filter(isWanted), query, oldest, parts: 1)
      ask(kinds.filter { !isWanted($0) }, query, oldest, parts: 1)
      return
    }
    if kinds.count > 1 {
      ask(kinds, query, oldest, parts: 2)
      return
    }
    let kind = kinds.first ?? ""
    guard query.guild == nil, isWanted(kind), let guilds, !guilds.isEmpty else {
      lost.append(Unreached(kind: kind, guild: query.guild, before: oldest))
      return
    }
    byGuild.append((kind, oldest))
    queries += guilds.map { Query(kinds: kinds, guild: $0, bound: oldest) }
  }

  private mutating func ask(_ kinds: [String], _ query: Query, _ oldest: Timestamp, parts: Int) {
    let many = Self.mostRows / 8
    var groups = kinds.filter { counts[$0, default: 0] > many }.map { [$0] }
    let others = kinds.filter { counts[$0, default: 0] <= many }
    let most = max(1, (others.count + parts - 1) / parts)
    var group: [String] = []
    var length = 0
    for kind in others {
      if group.count == most || (length + kind.utf8.count > Self.longestList && !group.isEmpty) {
        groups.append(group)
        (group, length) = ([], 0)
      }
      group.append(kind)
      length += kind.utf8.count + 1
    }
    if !group.isEmpty { groups.append(group) }
    queries += groups.map { Query(kinds: $0, guild: query.guild, bound: oldest) }
  }

  /// The kinds that are known and those that were seen, the frequent ones first.
  private mutating func nameableKinds(before oldest: Timestamp) -> [String] {
    let all = Set(ActionKind.all).union(counts.keys).union(names.kinds).subtracting([""])
    for kind in counts.keys where !Query.canName(kind) {
      lost.append(Unreached(kind: kind, before: oldest))
    }
    return all.filter { Query.canName($0) }.sorted { a, b in
      let (x, y) = (counts[a, default: 0], counts[b, default: 0])
      return x != y ? x > y : a < b
    }
  }
}
