import Core
import Records
import Screen

enum CountTime: String {
  case minute, hour, day, week, month

  init?(_ key: String) { self.init(rawValue: key) }

  /// `2026-03-01 10:00`, or the date or the month alone.
  func text(_ time: Timestamp) -> String {
    let whole = TimeText.absolute(time, zone: TimeText.local)
    switch self {
    case .minute, .hour: return String(whole.prefix(16))
    case .day, .week: return String(whole.prefix(10))
    case .month: return String(whole.prefix(7))
    }
  }
}

extension JSONValue {
  /// A time of RFC 3339.
  var time: Timestamp? { string.flatMap { Timestamp(rfc3339: $0) } }
}

extension CountTable {
  /// The line of a record as TSV, with times of the user's zone where they are wanted.
  static func tsv(_ record: [UInt8], _ fields: [String], isLocal: Bool) -> String {
    fields.map { field in
      let value = RowText.tsv(record, fields: [field])
      guard isLocal, let unit = CountTime(field) else { return value }
      return Timestamp(rfc3339: value).map(unit.text) ?? value
    }.joined(separator: "\t")
  }
}
