public import Core
import Records
import Web

/// The stream of what changes in a repository.
public struct PDSFirehose {
  private let access: PDSAccess
  private let server: PDSServer
  private let repository: Repository
  /// The same by its DID, where that is known: a handle may have changed.
  private let asked: Repository
  private let limits: PDSLimits
  private let diagnostics: Diagnostics

  /// - Parameters:
  ///   - repository: whose events; nil for those of the profile's identifier.
  ///   - limits: how long it may take to look a handle up for a new state file; the stream
  ///     itself takes as long as its policy says.
  /// - Throws: `Failure` when nobody is named.
  public init(
    _ access: PDSAccess, repository: Repository?, _ limits: PDSLimits, _ diagnostics: Diagnostics
  ) throws(Failure) {
    self.access = access
    server = access.server
    self.limits = limits
    self.diagnostics = diagnostics
    let records = PDSRecords(access, repository: repository, limits, diagnostics)
    asked = try records.repository()
    self.repository = repository ?? access.server.identifier ?? asked
  }

  /// The stream.
  ///
  /// - Parameters:
  ///   - collections: of which changes are wanted; none for all.
  ///   - from: the number behind which it begins; nil for now.
  /// - Throws: `Failure` for a state file of something else, or a new one for a handle
  ///   that is not to be looked up.
  public func stream(
    of collections: [NSID], from: Int64?, state: ResumeFile?
  ) throws(Failure) -> FollowedStream {
    let resume = try state.map { file throws(Failure) in try self.resume(file) }
    // What cannot be asked for is known before the first connection.
    _ = try server.request("com.atproto.sync.subscribeRepos")
    var stream = FollowedStream(server.base.display, resume: resume) { [self] follow in
      let firehose = Firehose(
        follow, PDSVisit(access, diagnostics), repository, asked, collections, state: state?.path
      ) { did in
        guard let source = resume?.state.source, source != self.source(did) else { return nil }
        return "\(repository) is \(did) now, and the state that of \(source)"
      }
      return { () throws(LinkEnd) in try firehose.run() }
    }
    stream.isNumbered = true
    if stream.lastEventID.isEmpty { stream.lastEventID = from.map { String($0) } ?? "" }
    return stream
  }

  private func source(_ did: DID) -> String { "repository \(did) of \(server.base.display)" }

  private func resume(_ file: ResumeFile) throws(Failure) -> ResumePoint {
    let resume = try ResumePoint(file, source: source(try owner(file.path)))
    let id = resume.state.lastEventID
    guard id.isEmpty || Int64(id) != nil else {
      throw Failure(file.path, "its event id is no number")
    }
    return resume
  }

  /// Whose events a state file is to be of. A handle that is in use already need not be looked
  /// up now: that the server may be away is the stream's affair.
  private func owner(_ path: String) throws(Failure) -> DID {
    if let did = repository.did { return did }
    let records = PDSRecords(access, repository: asked, limits, diagnostics)
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
    guard let did = found.flatMap({ PDSRecords.member("did", of: $0) }).flatMap({ DID($0) })
    else { throw Failure(repository.description, "no such repository", .negative) }
    return did
  }
}
