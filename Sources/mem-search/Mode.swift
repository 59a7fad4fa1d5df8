enum Mode: String {
  case search
  case facts
  case subjects
  case reflections
  case factProfile = "fact-profile"
  case markdown
  case snapshot
  case edit
  case delete
  case undo
  case mirror
  case pick

  func takes(_ option: String) -> Bool {
    switch option {
    case "limit", "min-score": self == .search
    case "best": self == .search || self == .facts
    case "count": [.search, .facts, .subjects, .reflections, .undo].contains(self)
    case "type", "subject": [.search, .facts, .edit, .pick].contains(self)
    case "channel": [.search, .factProfile, .snapshot].contains(self)
    case "user", "mode": self == .snapshot
    case "fact", "confidence", "evidence": self == .edit
    case "yes": self == .edit || self == .delete
    case "offline": [.search, .facts, .subjects].contains(self)
    case "filter": self == .pick
    case "output", "header": self != .pick
    default: true
    }
  }

  var operands: (name: String, range: ClosedRange<Int>) {
    switch self {
    case .search: ("QUERY", 1...Int.max)
    case .facts, .pick: ("TEXT", 0...Int.max)
    case .reflections: ("RUN", 0...1)
    case .factProfile, .snapshot: ("TEXT", 0...Int.max)
    case .delete: ("ID", 1...Int.max)
    case .undo: ("ID", 0...Int.max)
    case .subjects, .markdown, .edit, .mirror: ("", 0...0)
    }
  }
}
