import Core
import Records

struct StoryBook {
  struct Thread {
    var title: String?
    var agent: String?
  }

  private struct ThreadKey: Hashable {
    let origin: RecordOrigin
    let id: String
  }

  /// More stories than this do not go on at once: the oldest is taken for the end of what
  /// will be heard of it.
  static let mostOpen = 1000
  static let mostShown = 20_000
  static let mostThreads = 4096

  private var order: [PartKey] = []
  private var stories: [PartKey: Story] = [:]
  /// The story that each part is in, or was in before that became a part of another.
  private var homes: [PartKey: PartKey] = [:]
  private var moved: [PartKey: PartKey] = [:]
  private var shown = RecentIDs<PartKey>(most: mostShown)
  private var threads: [ThreadKey: Thread] = [:]
  /// The ended story that more may still be said of: the last one, and nothing else came.
  private(set) var settling: PartKey?

  /// Takes a record.
  mutating func add(_ record: ConversationRecord) -> [Story] {
    guard let key = PartKey(record) else {
      if case .thread(let thread) = record { learn(thread) }
      return []
    }
    // An end was shown: it is said again.
    if shown.contains(key) { return [] }
    let home = home(of: record, as: key)
    var complete: [Story] = []
    if let settling, settling != home { complete += remove(settling) }
    if stories[home] == nil {
      if order.count >= Self.mostOpen { complete += remove(order[0]) }
      stories[home] = Story(home)
      order.append(home)
    }
    if home != key, var part = drop(key) {
      // It turns out to be a part of another.
      stories[home]?.merge(&part)
      moved[key] = home
    }
    homes[key] = home
    stories[home]?.add(record, as: key)
    if home == key, record.isReplaced {
      _ = remove(key)
      return complete
    }
    if stories[home]?.isEnded == true { settling = home }
    return complete
  }

  mutating func settle() -> [Story] { settling.map { remove($0) } ?? [] }

  mutating func finish() -> [Story] { order.flatMap { remove($0) } }

  var open: [Story] { order.compactMap { stories[$0] } }

  var isEmpty: Bool { order.isEmpty }

  func question(_ key: PartKey) -> (ApprovalRecord, Story)? {
    guard let story = homes[key].flatMap({ stories[place(of: $0)] }), let part = story.parts[key],
      case .approval(let approval) = part.record, approval.state == .pending
    else { return nil }
    return (approval, story)
  }

  func thread(of story: Story) -> Thread {
    story.thread.flatMap { threads[ThreadKey(origin: story.key.origin, id: $0)] } ?? Thread()
  }

  private func place(of story: PartKey) -> PartKey {
    var story = story
    while let next = moved[story] { story = next }
    return story
  }

  /// The story that a part is in. The way there is short the next time.
  private mutating func home(of part: PartKey) -> PartKey? {
    guard var step = homes[part] else { return nil }
    let home = place(of: step)
    homes[part] = home
    while let next = moved[step], next != home {
      moved[step] = home
      step = next
    }
    return home
  }

  private mutating func home(of record: ConversationRecord, as key: PartKey) -> PartKey {
    for place in [record.call, record.parent].compactMap(\.self) where place != key {
      if let home = home(of: place) { return home }
    }
    guard let turn = record.parent, turn != key, !shown.contains(turn) else {
      // Of a turn that was shown already nothing more is drawn: it stands for itself.
      return home(of: key) ?? key
    }
    return turn
  }

  private mutating func drop(_ key: PartKey) -> Story? {
    if settling == key { settling = nil }
    if let index = order.firstIndex(of: key) { order.remove(at: index) }
    return stories.removeValue(forKey: key)
  }

  private mutating func remove(_ key: PartKey) -> [Story] {
    guard let story = drop(key) else { return [] }
    for (part, value) in story.parts {
      homes[part] = nil
      moved[part] = nil
      if value.record.isEnded { _ = shown.insert(part) }
    }
    return [story]
  }

  private mutating func learn(_ thread: ThreadRecord) {
    let key = ThreadKey(origin: thread.origin, id: thread.id)
    guard threads[key] != nil || threads.count < Self.mostThreads else { return }
    threads[key] = Thread(title: thread.title, agent: thread.agent)
  }
}
