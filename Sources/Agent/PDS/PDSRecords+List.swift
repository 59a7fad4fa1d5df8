import Core
import Records
import Web

extension PDSRecords {
  /// What servers give at once.
  private static let pageSize = 100

  /// All records of a collection, the highest key first.
  ///
  /// - Parameters:
  ///   - collection: which.
  ///   - isReversed: the lowest key first.
  ///   - count: how many at most.
  ///   - most: the most that is read, bytes of answers.
  ///   - end: when no further page is asked for, on `Clock.monotonic`.
  ///   - fault: told what of an answer is no record; one line.
  ///   - row: given each, one JSON object on one line.
  /// - Throws: `CallFailure`, and what `row` throws.
  public func list(
    _ collection: NSID, isReversed: Bool, count: Int, most: Int = .max, end: Double = .infinity,
    fault: (String) -> Void, row: ([UInt8]) throws -> Void
  ) throws {
    let method = "com.atproto.repo.listRecords"
    let repository = try repository().description
    var pages = RecordPages(isRising: isReversed, count: count, most: most)
    var cursors = ListCursor()
    var cursor: String?
    var asksReversed = isReversed
    // One record alone does not show in which order they come.
    var size = min(max(count, 2), Self.pageSize)
    while !pages.isFull {
      if Clock.monotonic > end {
        throw CallFailure(place(method), "the list did not come whole in time", .temporary)
      }
      let reply = try read(
        method,
        [
          ("repo", repository), ("collection", collection.description), ("limit", "\(size)"),
          ("cursor", cursor), ("reverse", asksReversed ? "true" : nil),
        ])
      guard case .answer(let head, let body) = reply else {
        guard case .refused(let error) = reply else { return }
        // Not every server can do that.
        if asksReversed, cursor == nil, error.status == 400 || error.status == 501,
          !error.isAbsence
        {
          asksReversed = false
          continue
        }
        throw CallFailure(place(method), error.line, error.isAbsence ? .negative : error.exit)
      }
      guard let page = Self.page(of: body, fault) else {
        throw CallFailure(place(method), "\(head.summary): the answer has no records", .failure)
      }
      let (rows, isNews) = pages.take(page, bytes: body.count)
      if let excess = pages.excess { throw CallFailure(place(method), excess, .failure) }
      for each in rows { try row(each.bytes) }
      do throws(RecordFault) {
        cursor = try cursors.next(after: body, isNews: isNews)
      } catch {
        fault(error.reason)
        break
      }
      if cursor == nil { break }
      size = Self.pageSize
    }
    for each in pages.finish() { try row(each.bytes) }
  }

  /// The rows of an answer.
  ///
  /// - Returns: nil when it has none, not even an empty list.
  static func page(
    of body: [UInt8], _ fault: (String) -> Void
  ) -> [RecordPages.Row]? {
    let list = body.withUnsafeBytes { bytes -> [UInt8]? in
      guard let value = try? ScanMembers.value(of: "records", in: bytes), value.isArray else {
        return nil
      }
      return Array(value.bytes)
    }
    guard isObject(body), let list, let rows = Answer.elements(list) else { return nil }
    return rows.compactMap { bytes in
      guard let uri = member("uri", of: bytes).flatMap(ATURI.init), let collection = uri.collection,
        let key = uri.key
      else {
        fault("a record without an AT URI")
        return nil
      }
      return RecordPages.Row(path: "\(collection)/\(key)", bytes: RowText.line(bytes))
    }
  }
}
