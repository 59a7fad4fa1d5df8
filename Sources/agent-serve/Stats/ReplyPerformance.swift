import Core

/// The durations that a reply tells in `metadata.performance`.
struct ReplyPerformance: Sendable, Equatable {
  /// The kinds that tell them.
  static let kinds = ["sent_reply", "sent_message", "reply_skipped"]
  /// The members, in the order of `values`.
  static let members = [
    "totalMs", "processingMs", "queueMs", "ingestMs", "memorySliceMs", "llm1Ms", "followupMs",
    "typingDelayMs", "sendMs",
  ]

  /// Whole milliseconds, nil where none was told.
  var values = [Double?](repeating: nil, count: members.count)

  /// - Parameter metadata: JSON; nil when it holds no object `performance`.
  init?(metadata: String?) {
    guard var metadata, metadata.utf8.count > 13 else { return nil }
    let values = metadata.withUTF8 { bytes -> [Double?]? in
      do throws(ScanFault) {
        let performance = try ScanMembers.value(
          of: "performance", in: UnsafeRawBufferPointer(bytes))
        guard performance.isObject else { return nil }
        var values = [Double?](repeating: nil, count: Self.members.count)
        var members = try ScanMembers(performance.bytes)
        while try members.next() {
          guard let index = Self.members.firstIndex(of: members.key.unescaped) else { continue }
          let number = Self.number(members.value)
          values[index] = number.flatMap { $0.isFinite && $0 >= 0 ? $0.rounded() : nil }
        }
        return values
      } catch {
        return nil
      }
    }
    guard let values else { return nil }
    self.values = values
  }

  /// `Number(value)`: null counts as 0, unlike a member that is not there.
  private static func number(_ value: ScanValue) -> Double? {
    if value.isNull { return 0 }
    return value.isString
      ? value.string.flatMap(JavaScriptNumber.parse) : ScanNumber(value)?.double
  }
}
