import Core

/// Tells an action from its duplicates: rows of two snapshots, a live action
/// and its row, the same action on the two streams.
///
/// An action with an id is known by it. Across spellings the contract's key is
/// all there is, and two equal actions of one millisecond share it; so for each
/// key it is counted how often each source has shown it. What a source shows
/// more often than was passed on is new, everything else was passed on already.
/// The window forgets the oldest ids and keys first.
struct UniqueWindow {
  /// The ids, and the keys, that are remembered.
  static let capacity = 262_144

  private struct Seen {
    var passed: UInt32 = 0
    var shown: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)

    mutating func show(_ source: ActionRecord.Source) -> UInt32 {
      switch source {
      case .row: Self.count(&shown.0)
      case .actionEvent: Self.count(&shown.1)
      case .voiceEvent: Self.count(&shown.2)
      case .bare: Self.count(&shown.3)
      }
    }

    private static func count(_ counter: inout UInt32) -> UInt32 {
      counter &+= 1
      return counter
    }
  }

  private var ids: [ActionKey: Bool] = [:]
  private var keys: [ActionKey: Seen] = [:]
  private var idOrder: Ring
  private var keyOrder: Ring

  /// - Parameter capacity: the ids, and the keys, that are remembered.
  init(capacity: Int = UniqueWindow.capacity) {
    idOrder = Ring(capacity: capacity)
    keyOrder = Ring(capacity: capacity)
  }

  /// Whether an action is seen for the first time; remembers it.
  ///
  /// - Parameters:
  ///   - fields: the action.
  ///   - source: where it came from.
  ///   - scratch: memory for texts with escapes.
  mutating func isNew(
    _ fields: ActionFields, _ source: ActionRecord.Source, _ scratch: ScanScratch
  ) -> Bool {
    if let id = fields.id.rawText {
      let key = ActionKey(text: scratch.text(of: id))
      guard ids.updateValue(true, forKey: key) == nil else { return false }
      if let oldest = idOrder.add(key) { ids[oldest] = nil }
    }
    let key = ActionKey(fields, scratch: scratch)
    if keys[key] == nil, let oldest = keyOrder.add(key) { keys[oldest] = nil }
    let shown = keys[key, default: Seen()].show(source)
    guard shown > keys[key]?.passed ?? 0 else { return false }
    keys[key]?.passed &+= 1
    return true
  }
}

/// The last keys that came, in their order; grows up to its capacity.
private struct Ring {
  private var keys: [ActionKey] = []
  private var next = 0
  private let capacity: Int

  init(capacity: Int) { self.capacity = max(capacity, 1) }

  /// Adds a key; returns the one that it pushes out.
  mutating func add(_ key: ActionKey) -> ActionKey? {
    if keys.count < capacity {
      keys.append(key)
      return nil
    }
    defer { next = (next + 1) % capacity }
    defer { keys[next] = key }
    return keys[next]
  }
}
