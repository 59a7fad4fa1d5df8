public import Core

/// One thing the agent did, read from either spelling of the wire: a row
/// (`created_at`, `usd_cost`, an id) or a live action (`createdAt`, `usdCost`).
///
/// Where both spellings are there the row's counts unless it is null. A member
/// of another type than Agent/Clanky/CONTRACT.md 3.1 says is taken for what it says where that is
/// clear (a number for an id), and for absent otherwise.
public struct Action: Sendable {
  /// The row's number as text; nil in live actions of a dashboard.
  public let id: String?
  /// When it was done, as sent: RFC 3339 in UTC as a rule.
  public let createdAt: String?
  /// What was done; empty when the record does not say.
  public let kind: String
  /// The words of the action; what is not text is its JSON.
  public let content: String?
  /// Ids of Discord, decimal digits.
  public let guild: String?, channel: String?, message: String?, user: String?
  /// What the kind adds: an object as a rule, nil when null or absent.
  public let metadata: JSONValue?
  /// US dollars; nil when unknown.
  public let cost: Double?
  /// `info`, `warn` or `error`; seldom there.
  public let level: String?
  /// The whole object, for members that no one knows yet.
  public let object: JSONValue

  /// - Parameter object: an action, bare; see `FeedRecord` for wrapped ones.
  public init(_ object: JSONValue) {
    self.object = object
    id = object["id"]?.text
    createdAt = object[either: "created_at", "createdAt"]?.text
    kind = object["kind"]?.text ?? ""
    content = Self.words(object["content"])
    guild = object[either: "guild_id", "guildId"]?.text
    channel = object[either: "channel_id", "channelId"]?.text
    message = object[either: "message_id", "messageId"]?.text
    user = object[either: "user_id", "userId"]?.text
    metadata = object["metadata"].flatMap { $0.isNull ? nil : $0 }
    cost = object[either: "usd_cost", "usdCost"]?.number
    level = object["level"]?.string
  }

  private static func words(_ value: JSONValue?) -> String? {
    guard let value, !value.isNull else { return nil }
    return value.text ?? value.compact()
  }

  /// What the action is about.
  public var domain: ActionDomain { ActionKind.domain(of: kind) }

  /// Whether the action tells of a failure.
  public var isError: Bool { ActionKind.isError(kind: kind, level: level) }

  /// Whether the action is a warning.
  public var isWarning: Bool {
    level == "warn" || kind.hasSuffix("_warn") || kind.hasSuffix("_warning")
  }

  /// The names that this type reads, in both spellings.
  public static let knownMembers: Set<String> = [
    "id", "created_at", "createdAt", "kind", "content", "guild_id", "guildId", "channel_id",
    "channelId", "message_id", "messageId", "user_id", "userId", "metadata", "usd_cost", "usdCost",
    "level",
  ]
}
