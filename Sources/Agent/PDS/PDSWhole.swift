public import Core
import Records
import Web

extension PDSRecords {
  /// The whole repository as one file (CAR): records, tree and signed commit.
  ///
  /// - Returns: nil when there is no such repository.
  public func file() throws(Failure) -> [UInt8]? {
    guard let did = try did() else { return nil }
    let method = "com.atproto.sync.getRepo"
    // Not every server says what it is.
    let (head, body) = try told(by: try read(method, [("did", did)], isAny: true), method)
    let hasRoot = body.withUnsafeBytes { (try? CARBlocks($0).root()) != nil }
    if hasRoot { return body }
    throw Failure(
      place(method), "\(head.summary): not a repository",
      XRPCError.isPage(head, body) ? .temporary : .failure)
  }

  private func told(
    by reply: XRPCLine.Reply, _ method: String
  ) throws(Failure) -> (head: ResponseHead, body: [UInt8]) {
    try reply.mapError { Failure(place(method), $0.line, $0.exit) }.get()
  }

  /// All records of the repository, of one moment, sorted by collection and key.
  ///
  /// - Parameters:
  ///   - fault: told which record is not to be had; one line.
  ///   - row: gets each, as lists have them.
  /// - Returns: whether there is such a repository.
  /// - Throws: `Failure`, or what `row` throws.
  public func export(fault: (String) -> Void, row: ([UInt8]) throws -> Void) throws -> Bool {
    guard let repository = try did(), let file = try file() else { return false }
    try file.withUnsafeBytes { bytes in
      let tree = try RepositoryTree(bytes)
      for (path, cid) in tree.records {
        let uri = "at://\(repository)/\(path)"
        if let value = (try? tree.value(of: cid)) ?? nil {
          try row(
            RecordText().string("uri", uri).string("cid", cid.description)
              .json("value", value.recordJSON).bytes)
          continue
        }
        // What is nested too deep for us, a server can perhaps write out.
        guard let name = ATURI(uri) else {
          fault("\(uri): not the AT URI of a record")
          continue
        }
        switch try look(name) {
        case .found(let found): try row(found)
        case .absent: fault("\(uri): deleted meanwhile")
        case .refused(let reason): fault("\(uri): \(reason)")
        }
      }
    }
    return true
  }

  /// Keeps a blob on the server, for a record to name it.
  ///
  /// - Parameter type: what it is, `image/png`.
  /// - Returns: the object to put into a record.
  public func putBlob(_ blob: [UInt8], type: String) throws(Failure) -> [UInt8] {
    let method = "com.atproto.repo.uploadBlob"
    let (head, body) = try told(by: try write(method, type: type) { _ in blob }, method)
    let found = ScanMembers.copy(of: "blob", in: body)
    guard let found, found.first == UInt8(ascii: "{") else {
      throw Failure(place(method), "\(head.summary): no blob in the answer", .failure)
    }
    return RowText.line(found)
  }

  /// A blob.
  ///
  /// - Returns: nil when there is none.
  /// - Throws: `Failure`; what has not this CID is one, too.
  public func blob(_ cid: CID) throws(Failure) -> [UInt8]? {
    guard let did = try did() else { return nil }
    let method = "com.atproto.sync.getBlob"
    let reply = try read(method, [("did", did), ("cid", cid.description)], isAny: true)
    if case .failure(let error) = reply, error.isAbsence || error.name == "BlobNotFound" {
      return nil
    }
    let (head, body) = try told(by: reply, method)
    if CID(ofBlob: body) == cid { return body }
    let isPage = XRPCError.isPage(head, body)
    throw Failure(
      place(method), "\(head.summary): another blob than was asked for",
      isPage ? .temporary : .failure)
  }
}
