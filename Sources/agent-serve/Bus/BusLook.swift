import Core

/// A look at what is on a bus of a store's actions, from what `bus-get -m` prints: the rows that
/// need not be sent again.
struct BusLook {
  /// The rows that are there.
  private(set) var rows: Set<Int64> = []
  /// Whether all is there to be seen that may have come since; known at the end.
  private(set) var isWhole: Bool
  private let prefix: String
  private let place: BusMark.Place?
  private var isFirst = true

  /// More rows than can be in doubt.
  private static let mostRows = 8192

  /// - Parameter mark: what is there for certain; its own place is looked at first, to see whether
  ///   the stream still holds that.
  init(_ mark: BusMark) {
    (prefix, place) = (mark.store + "-", mark.place)
    isWhole = mark.place == nil
  }

  /// Takes a line.
  mutating func take(_ line: [UInt8]) {
    var (stream, sequence, id): (String?, Int64?, String?)
    line.withUnsafeBytes { bytes in
      do throws(ScanFault) {
        var members = try ScanMembers(bytes)
        while try members.next() {
          switch members.key.unescaped {
          case "stream": stream = members.value.string
          case "seq": sequence = members.value.string.flatMap { Int64($0) }
          case "id": id = members.value.string
          default: break
          }
        }
      } catch {
        // A line of ours is whole, or nothing.
      }
    }
    if isFirst, let place { isWhole = stream == place.stream && sequence == place.sequence }
    isFirst = false
    guard let id, id.hasPrefix(prefix), let row = Int64(id.dropFirst(prefix.count)) else { return }
    if rows.count < Self.mostRows { rows.insert(row) }
  }
}
