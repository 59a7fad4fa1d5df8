/// The two streams that clients can follow.
struct Streams: Sendable {
  /// What the kinds of the voice stream begin with (Agent/Clanky/CONTRACT.md 2.2).
  static let voiceKinds = "voice_"

  /// Every action; the stats after them.
  let activity: Hub
  /// Those of voice sessions; the voice state, every three seconds alone.
  let voice: Hub

  /// - Parameter published: the newest id in the store.
  init(published: Int64) {
    activity = Hub(published: published)
    voice = Hub(published: published, updatesAfterActions: false)
  }

  /// Delivers stored actions; they come in the order of their ids.
  func publish(_ stored: [StoredAction]) {
    activity.publish(stored.map(Frame.action))
    let voiced = stored.filter { $0.action.kind.hasPrefix(Self.voiceKinds) }
    if !voiced.isEmpty { voice.publish(voiced.map(Frame.voice)) }
  }

  /// How many subscribers there are.
  var count: Int { activity.count + voice.count }

  /// Ends all streams; what was published is delivered first.
  func end() {
    activity.end()
    voice.end()
  }
}
