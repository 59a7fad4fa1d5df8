/// When what changed is told again. A text that grows would be told again with each of its pieces:
/// the longer it is, the rarer. Below `wholeSize` every change is told. Above, a text that only
/// grew is told again when it is an eighth longer, when anything else changes, or when nothing more
/// is to come for now: so what is told is linear to what came, and what is live has no delay.
public struct FoldPace {
  private var waiting: [any FoldedEntity] = []
  private var mostWaiting = 256

  /// Bytes of a text.
  private static let wholeSize = 4096

  public init() {}

  /// Whether something that changed is to be told now; else it waits for `rest`.
  public mutating func isDue(_ entity: any FoldedEntity) -> Bool {
    let size = entity.textSize
    let told = entity.marks.toldSize ?? 0
    if entity.marks.hasNews || size < Self.wholeSize || size - told >= told / 8 { return true }
    if entity.marks.isWaiting { return false }
    if waiting.count >= mostWaiting {
      waiting.removeAll { entity in
        if entity.isBehind { return false }
        entity.marks.isWaiting = false
        return true
      }
      mostWaiting = max(256, waiting.count * 2)
    }
    entity.marks.isWaiting = true
    waiting.append(entity)
    return false
  }

  /// Whether anything waits.
  public var isBehind: Bool { waiting.contains(where: \.isBehind) }

  /// All that waits, which is told now.
  public mutating func rest() -> [any FoldedEntity] {
    let rest = waiting
    waiting.removeAll(keepingCapacity: true)
    for entity in rest { entity.marks.isWaiting = false }
    return rest.filter(\.isBehind)
  }
}

extension FoldedEntity {
  fileprivate var isBehind: Bool { textSize != marks.toldSize }
}
