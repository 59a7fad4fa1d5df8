public import Core
import Web

/// The stream of what changes in a repository.
public struct PDSFirehose {
  private let server: PDSServer
  private let repository: DID

  /// - Parameters:
  ///   - access: the server.
  ///   - repository: whose events; nil for those of the profile's identifier. A handle is looked
  ///     up now.
  ///   - limits: how long that may take.
  ///   - diagnostics: for notes.
  /// - Throws: `CallFailure` when nobody is named, or there is no such repository.
  public init(
    _ access: PDSAccess, repository: Repository?, _ limits: PDSLimits, _ diagnostics: Diagnostics
  ) throws(CallFailure) {
    server = access.server
    let records = PDSRecords(access, repository: repository, limits, diagnostics)
    let named = try records.repository()
    if let did = named.did {
      self.repository = did
      return
    }
    guard let found = try records.describe(),
      let did = PDSRecords.member("did", of: found).flatMap({ DID($0) })
    else { throw CallFailure(named.description, "no such repository", .negative) }
    self.repository = did
  }

  /// The stream.
  ///
  /// - Parameters:
  ///   - collections: of which changes are wanted; none for all.
  ///   - from: the number behind which it begins; nil for now.
  ///   - state: the file that keeps the resume point; nil for none.
  /// - Throws: `SettingsError` for a state file of something else.
  public func stream(
    of collections: [NSID], from: Int64?, state: String?
  ) throws(SettingsError) -> FollowedStream {
    let resume = try state.map { path throws(SettingsError) in
      let resume = try ResumePoint(
        path: path, source: "repository \(repository) of \(server.base.display)")
      let id = resume.state.lastEventID
      guard id.isEmpty || Int64(id) != nil else {
        throw SettingsError(path, "its event id is no number")
      }
      return resume
    }
    // What cannot be asked for is known before the first connection.
    _ = try server.request("com.atproto.sync.subscribeRepos")
    var stream = FollowedStream(place: server.base.display, resume: resume) {
      [server, repository] client, policy, handler in
      FirehoseStream(client, server, repository, collections, policy: policy, handler: handler)
    }
    if stream.lastEventID.isEmpty { stream.lastEventID = from.map { String($0) } ?? "" }
    return stream
  }
}
