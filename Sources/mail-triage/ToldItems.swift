import Core
import Records

/// What was told, in this run and, with a file, over restarts: a record `triage_state`.
struct ToldItems {
  private let file: StateFile?
  /// In the order in which they were told or met again, of this run and of earlier ones.
  private var order: [String] = []
  private var earlier: [String] = []
  private var known: Set<String> = []
  private var met: Set<String> = []
  private var savedAt = Clock.monotonic
  private var isDirty = false

  /// So many are remembered. All that this run met are, however many: they are there still.
  private let most: Int
  /// The longest file that one of ours can be, bytes.
  private static let limit = 64 << 20

  init(_ path: String?, most: Int = 50_000) throws(Failure) {
    self.most = most
    file = path.map { StateFile(path: $0) }
    guard let file, let bytes = try file.read(limit: Self.limit), !bytes.isEmpty else { return }
    guard let object = try? bytes.withUnsafeBytes({ try JSONValue.parse($0) }),
      object["type"]?.string == RecordType.triageState.rawValue,
      let told = object["told"]
    else { throw Failure(file.path, "not a state of mail-triage") }
    earlier = told.elements.compactMap(\.string)
    known = Set(earlier)
  }

  var isKept: Bool { file != nil }

  /// Whether an item was not told before. That it is there still is written down.
  mutating func isNew(_ item: Item) -> Bool {
    guard known.contains(item.key) else { return true }
    meet(item.key)
    return false
  }

  mutating func add(_ item: Item) {
    known.insert(item.key)
    meet(item.key)
    isDirty = true
  }

  private mutating func meet(_ key: String) {
    guard isKept, met.insert(key).inserted else { return }
    order.append(key)
  }

  /// Brings to disk what is new: at the end, and when a second has passed.
  mutating func save(isLast: Bool) throws(Failure) {
    guard let file, isDirty, isLast || Clock.monotonic - savedAt > 1 else { return }
    let gone = earlier.filter { !met.contains($0) }
    let all = gone.suffix(max(0, most - order.count)) + order
    try file.replace(
      with: RecordText(.triageState).strings("told", Array(all)).time(Timestamp.now()).line)
    isDirty = false
    savedAt = Clock.monotonic
  }
}
