import Web

/// The kinds and guilds that were seen in actions: what a backend can be asked
/// for besides what everybody knows.
///
/// Bounded, for the names come from outside.
public struct ActionNames: Sendable {
  /// The most kinds, and the most guilds.
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
