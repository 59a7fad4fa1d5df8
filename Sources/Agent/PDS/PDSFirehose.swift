public import Core
import Records
import Web

extension PDSAccess {
  /// The stream of what changes in a repository.
  ///
  /// - Parameters:
  ///   - given: whose; nil for the profile's identifier.
  ///   - collections: of which changes are wanted; none for all.
  ///   - from: the number behind which it begins; nil for now.
  ///   - limits: how long it may take to look a handle up for a new state file; the stream
  ///     itself takes as long as its policy says.
  /// - Throws: `Failure` when nobody is named, for a state file of something else, or a new one for
  ///   a handle that is not to be looked up.
  public func stream(
    of given: Repository?, _ collections: [NSID], from: Int64?, state: ResumeFile?,
    _ limits: PDSLimits, _ diagnostics: Diagnostics
  ) throws(Failure) -> FollowedStream {
    // The same by its DID, where that is known: a handle may have changed.
    let asked = try PDSRecords(self, repository: given, limits, diagnostics).repository()
    let repository = given ?? server.identifier ?? asked
    let resume = try state.map { file throws(Failure) in
      let records = PDSRecords(self, repository: asked, limits, diagnostics)
      let point = try ResumePoint(
        file, source: source(try owner(of: repository, records, file.path)))
      let id = point.state.lastEventID
      guard id.isEmpty || Int64(id) != nil else {
        throw Failure(file.path, "its event id is no number")
      }
      return point
    }
    // What cannot be asked for is known before the first connection.
    _ = try server.request("com.atproto.sync.subscribeRepos")
    var stream = FollowedStream(server.base.display, resume: resume) { follow in
      Firehose(
        follow, PDSVisit(self, diagnostics), repository, asked, collections, state: state?.path
      ) { did in
        guard let known = resume?.state.source, known != source(did) else { return nil }
        return "\(repository) is \(did) now, and the state that of \(known)"
      }.run
    }
    stream.isNumbered = true
    if stream.lastEventID.isEmpty { stream.lastEventID = from.map { String($0) } ?? "" }
    return stream
  }

  private func source(_ did: DID) -> String { "repository \(did) of \(server.base.display)" }

  /// Whose events a state file is to be of. A handle that is in use already need not be looked
  /// up now: that the server may be away is the stream's affair.
  private func owner(
    of repository: Repository, _ records: PDSRecords, _ path: String
  ) throws(Failure) -> DID {
    if let did = repository.did { return did }
    if let bytes = try StateFile(path: path).read(), let found = FollowState(bytes) {
      let words = found.source.split(separator: " ")
      if words.count > 1, let did = DID(String(words[1])), found.source == source(did) {
        return did
      }
    }
    let found: [UInt8]?
    do throws(Failure) { found = try records.describe() } catch {
      throw Failure(repository.description, error.message, error.status)
    }
    guard let did = found.flatMap({ ScanMembers.text(of: "did", in: $0) }).flatMap({ DID($0) })
    else { throw Failure(repository.description, "no such repository", .negative) }
    return did
  }
}
