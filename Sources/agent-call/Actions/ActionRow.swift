import Core

extension ActionPages {
  /// A row and what decides its place.
  struct Row {
    let bytes: [UInt8]
    /// The id as text; empty when there is none.
    var id = ""
    /// Nil when it has no time that can be read: such a row does not wait.
    var time: Timestamp?
    var kind = ""

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      let fields = bytes.withUnsafeBytes { bytes -> (String, Timestamp?, String)? in
        guard let fields = try? ActionFields(bytes) else { return nil }
        let time = fields.createdAt.string.flatMap { Timestamp(rfc3339: $0) }
        return (fields.id.string ?? "", time, fields.kind.string ?? "")
      }
      guard let fields else { return }
      (id, time, kind) = fields
    }
  }

  /// What makes two rows the same.
  enum RowKey: Hashable {
    case id(String)
    /// The row itself and its number among equal ones of an answer.
    case bytes([UInt8], Int)
  }

  /// Which ids there are between the smallest and the largest.
  struct IDRange {
    private var least = Int64.max
    private var most = Int64.min
    private var count: Int64 = 0
    private var isWhole = true

    /// Takes the id of one more row, each once.
    mutating func add(_ id: String) {
      guard let number = Int64(id) else {
        isWhole = false
        return
      }
      (least, most, count) = (min(least, number), max(most, number), count + 1)
    }

    /// How many there are not; nil when an id is no number.
    var missing: Int64? {
      guard isWhole, count > 0 else { return nil }
      let (span, overflow) = most.subtractingReportingOverflow(least)
      return overflow || span == .max ? nil : span + 1 - count
    }
  }
}
