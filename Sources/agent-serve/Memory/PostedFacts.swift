import Core

/// The facts of a posted body: one object, an array, the answer of a facts
/// endpoint, or any of these a line (Agent/Clanky/CONTRACT.md 9.5).
struct PostedFacts {
  /// Each with its line, from 1.
  private(set) var facts: [(fact: StoredFact, line: Int)] = []
  /// The lines that hold none.
  var faults: [(line: Int, reason: String)] = []
  /// Whether no line of it is JSON.
  private(set) var isUnreadable = true

  /// - Parameters:
  ///   - body: the request's.
  ///   - now: the time of facts that name none.
  init(_ body: [UInt8], now: Timestamp) {
    let body = body.withUnsafeBytes { UTF8Text.isValid($0) ? body : UTF8Text.repaired($0) }
    let decoder = FactDecoder(now: now)
    body.withUnsafeBytes { bytes in
      if ScanValidator.isValue(bytes) {
        take(bytes, line: 1, decoder)
        return
      }
      var line = 0
      for piece in bytes.split(separator: 10, omittingEmptySubsequences: false) {
        line += 1
        let piece = UnsafeRawBufferPointer(rebasing: piece)
        if piece.allSatisfy({ $0 <= 0x20 }) { continue }
        take(piece, line: line, decoder)
      }
    }
    if facts.isEmpty && faults.isEmpty { faults.append((1, "no fact in the body")) }
  }

  private mutating func take(
    _ bytes: UnsafeRawBufferPointer, line: Int, _ decoder: FactDecoder
  ) {
    do throws(ScanFault) { try ScanValidator.validate(bytes) } catch {
      faults.append((line, error.reason))
      return
    }
    isUnreadable = false
    guard let record = ScanObject(bytes) else {
      take(list: bytes, line: line, decoder)
      return
    }
    if record["facts"].isArray {
      take(list: record["facts"].bytes, line: line, decoder)
    } else if record["event"].isString, let data = ScanObject(record["data"].bytes) {
      take(data, line: line, decoder)
    } else {
      take(record, line: line, decoder)
    }
  }

  private mutating func take(
    list: UnsafeRawBufferPointer, line: Int, _ decoder: FactDecoder
  ) {
    guard let rows = ScanObject.list(list) else {
      faults.append((line, "neither an object nor an array of objects"))
      return
    }
    for row in rows { take(row, line: line, decoder) }
  }

  private mutating func take(_ object: ScanObject, line: Int, _ decoder: FactDecoder) {
    do throws(ActionFault) {
      facts.append((try decoder.decode(object), line))
    } catch {
      faults.append((line, error.reason))
    }
  }
}
