/// What waits to be spoken, while something is. Pure.
struct SpeechQueue<Item> {
  /// Whether what is newest wins: of several that wait only that one is spoken.
  let newestWins: Bool
  private var items: [Item] = []

  init(newestWins: Bool) { self.newestWins = newestWins }

  var isEmpty: Bool { items.isEmpty }

  mutating func add(_ item: Item) -> Item? {
    defer { items.append(item) }
    return newestWins ? items.popLast() : nil
  }

  mutating func next() -> Item? { items.isEmpty ? nil : items.removeFirst() }
}
