import Records
import Turns

/// The tasks of a list by their names: an AT URI, the key of a record, or its beginning or end.
struct TaskNames {
  enum Match {
    case one(TaskItem)
    case none
    case several([String])
  }

  private let items: [TaskItem]

  init(_ items: [TaskItem]) { self.items = items }

  /// Where only a part of the key is given, tasks that are open go before others.
  subscript(name: String) -> Match {
    if let item = items.first(where: { $0.record.id == name || $0.key == name }) {
      return .one(item)
    }
    // Some servers call the owner by another name.
    if name.hasPrefix("at://") {
      let path = { (uri: String) in uri.split(separator: "/").dropFirst(2) }
      return items.first { path($0.record.id) == path(name) }.map(Match.one) ?? .none
    }
    let found = items.filter { $0.key.hasPrefix(name) || $0.key.hasSuffix(name) }
    let open = found.filter { !$0.record.state.isEnd }
    let best = open.isEmpty ? found : open
    if best.count < 2 { return best.first.map(Match.one) ?? .none }
    return .several(best.map(\.key))
  }
}
