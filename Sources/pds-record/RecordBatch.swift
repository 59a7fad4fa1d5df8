import Agent
import Core

/// Records that are written in one commit.
struct RecordBatch {
  /// A record, and the number of its line in the input.
  typealias Line = (place: RecordPlace, draft: RecordDraft, number: Int)

  /// The most that servers take in one commit.
  private static let most = 200
  /// What stands around a record in a request, bytes, beside its names.
  private static let around = 200

  private var lines: [Line] = []
  private var places: Set<RecordPlace> = []
  private var bytes = 0
  /// Whether the last commit was one of new records: the next one is probably, too.
  private var areNew = true

  /// Whether another record can come with those that are there.
  func hasRoom(for place: RecordPlace, _ draft: RecordDraft) -> Bool {
    lines.count < Self.most && !places.contains(place)
      && bytes + Self.size(place, draft) <= RecordDraft.largest
  }

  private static func size(_ place: RecordPlace, _ draft: RecordDraft) -> Int {
    draft.bytes.count + place.description.utf8.count + around
  }

  mutating func add(_ line: Line) {
    lines.append(line)
    places.insert(line.place)
    bytes += Self.size(line.place, line.draft)
  }

  mutating func take() -> [Line] {
    defer { (lines, places, bytes) = ([], [], 0) }
    return lines
  }

  /// What came of each; nil where each is to be written by itself, which does no harm if it was
  /// written already.
  mutating func write(
    _ lines: [Line], by records: PDSRecords, mayReplace: Bool
  ) throws(Failure) -> [WriteOutcome]? {
    guard lines.count > 1 else { return nil }
    let writes = lines.map { (place: $0.place, draft: $0.draft) }
    let kinds = mayReplace ? [areNew, !areNew] : [true]
    for kind in kinds {
      if let outcomes = try records.putAll(writes, areNew: kind) {
        areNew = kind
        return outcomes
      }
    }
    return nil
  }
}
