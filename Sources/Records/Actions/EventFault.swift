import Core

/// What is wrong with a wrapped event whose data cannot be what its name says: a
/// server that sends half an object, a proxy that writes into a stream.
public enum EventFault {
  /// - Parameter record: one record of the feed that holds neither action nor stats.
  /// - Returns: one line, lower case; nil when nothing is wrong, or when the event
  ///   is none of those that are known.
  public static func reason(_ record: JSONValue) -> String? {
    guard let event = record["event"]?.string, let data = record["data"] else { return nil }
    let wanted: String
    switch event {
    case "action_event", "voice_event": wanted = "no action"
    case "activity_snapshot", "actions_backfill": wanted = "no list of actions"
    case "stats_update" where !data.isObject: wanted = "no stats"
    default: return nil
    }
    return "\(event): " + (data.isObject ? wanted : "the data is no JSON object")
  }
}
