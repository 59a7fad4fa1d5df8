import Core

struct BusLook {
  private(set) var ids: Set<String> = []
  /// Whether all is there to be seen that may have come since; known at the end.
  private(set) var isWhole: Bool
  private let prefix: String
  private let place: BusMark.Place?
  private var isFirst = true

  private static let most = 8192

  init(_ mark: BusMark) {
    (prefix, place) = (mark.store + "-", mark.place)
    isWhole = mark.place == nil
  }

  mutating func receive(_ line: [UInt8]) {
    var (stream, sequence, id): (String?, Int64?, String?)
    line.withUnsafeBytes { bytes in
      let members = ScanObject(bytes) ?? ScanObject()
      (stream, id) = (members["stream"].string, members["id"].string)
      sequence = members["seq"].string.flatMap { Int64($0) }
    }
    if isFirst, let place { isWhole = stream == place.stream && sequence == place.sequence }
    isFirst = false
    if let id, id.hasPrefix(prefix), ids.count < Self.most { ids.insert(id) }
  }
}
