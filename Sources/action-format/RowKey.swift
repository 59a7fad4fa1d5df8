import Core
import Records

/// What stands in front of a row for a program to cut off: `--key`.
enum RowKey: String, CaseIterable {
  case id, kind, line, profile, thread

  /// `id,profile`: one at least, in any order.
  static let reading = Reading<[RowKey]>(
    { argument throws(UsageError) in
      let names = allCases.map(\.rawValue)
      var keys: [RowKey] = []
      for word in argument.words where !word.isEmpty {
        guard let key = RowKey(rawValue: word) else { throw argument.fault(noneOf: names) }
        keys.append(key)
      }
      if keys.isEmpty { throw argument.fault(noneOf: names) }
      return keys
    }, completion: .words(allCases.map(\.rawValue)))

  /// The columns, each with its tab; what is in them is one line and has no tab.
  static func columns(_ keys: [RowKey], of action: Action?, profile: String?, line: Int) -> String {
    var columns = ""
    for key in keys {
      let text: String? =
        switch key {
        case .id: action?.id
        case .kind: action?.kind
        case .line: "\(line)"
        case .profile: profile
        case .thread: action?.metadata?["sessionId"]?.text ?? action?.channel
        }
      columns += Visible.line(text ?? "") + "\t"
    }
    return columns
  }
}
