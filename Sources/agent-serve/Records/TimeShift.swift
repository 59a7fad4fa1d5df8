import Core

/// Moves the times inside a JSON text, as the dashboard writes them
/// (`"2026-03-01T12:00:00.000Z"`), by the same amount.
struct TimeShift {
  private let by: Duration

  /// - Parameters:
  ///   - from: a time of the text.
  ///   - to: what it becomes.
  init(from: Timestamp, to: Timestamp) {
    by =
      .seconds(to.seconds - from.seconds) + .nanoseconds(to.nanoseconds - from.nanoseconds)
  }

  private static let pattern = Array("\"0000-00-00T00:00:00.000Z\"".utf8)

  /// The text with all its times moved; it keeps its length.
  func moved(_ text: [UInt8]) -> [UInt8] {
    var text = text
    let width = Self.pattern.count
    var index = 0
    while let quote = text[index...].firstIndex(of: 0x22), quote + width <= text.count {
      index = quote + 1
      guard Self.isTime(text[quote..<quote + width]) else { continue }
      let inner = quote + 1..<quote + width - 1
      guard let time = Timestamp(rfc3339: String(decoding: text[inner], as: UTF8.self)) else {
        continue
      }
      let moved = Array(time.adding(by).rfc3339.utf8)
      if moved.count == inner.count { text.replaceSubrange(inner, with: moved) }
      index = quote + width
    }
    return text
  }

  private static func isTime(_ bytes: ArraySlice<UInt8>) -> Bool {
    zip(bytes, pattern).allSatisfy { byte, model in
      model == UInt8(ascii: "0") ? byte &- 0x30 < 10 : byte == model
    }
  }
}
