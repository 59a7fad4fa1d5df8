import Screen

enum LiveCards {
  static func fit(_ cards: [[Line]], rows: Int) -> [Line] {
    guard cards.count <= rows else {
      let hidden = cards.count - rows + 1
      let note = Line("… \(hidden) more turns", .dim)
      return [note] + cards.dropFirst(hidden).map { $0.first ?? Line() }
    }
    var room = shares(of: cards.map(\.count), rows: rows)
    // What short cards leave went to the long ones; the newest is seen best.
    var left = rows - room.reduce(0, +)
    for index in cards.indices.reversed() {
      let more = min(left, cards[index].count - room[index])
      room[index] += more
      left -= more
    }
    return zip(cards, room).flatMap { cut($0, to: $1) }
  }

  private static func shares(of needs: [Int], rows: Int) -> [Int] {
    var open = Array(needs.indices)
    var room = needs.map { _ in 0 }
    var left = rows
    while !open.isEmpty {
      let share = left / open.count
      let small = open.filter { needs[$0] <= share }
      if small.isEmpty {
        for index in open { room[index] = share }
        return room
      }
      for index in small {
        room[index] = needs[index]
        left -= needs[index]
      }
      open.removeAll { needs[$0] <= share }
    }
    return room
  }

  private static func cut(_ card: [Line], to rows: Int) -> [Line] {
    guard card.count > rows, let first = card.first else { return card }
    switch rows {
    case ..<1: return []
    case 1: return [first]
    default:
      let last = card.suffix(rows - 2)
      return [first, Line("  … \(card.count - 1 - last.count) more lines", .dim)] + last
    }
  }
}
