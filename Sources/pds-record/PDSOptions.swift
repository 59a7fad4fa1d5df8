import Agent
import Core

struct PDSOptions {
  enum Verb: String, CaseIterable {
    case list, get, create, put, delete, watch, describe, login, export, blob

    var isWrite: Bool { self == .create || self == .put || self == .delete }

    fileprivate static func taking(_ option: String) -> [Verb]? {
      switch option {
      case "reverse": [.list]
      case "swap": [.put, .delete]
      case "count": [.list, .watch]
      case "queue": allCases.filter { ![.watch, .describe, .export, .blob].contains($0) }
      case "car": [.export]
      case "state": [.create, .watch]
      case "repo": [.list, .get, .watch, .describe, .export, .blob]
      case "timeout": allCases.filter { $0 != .watch }
      case "from", "received-at", "lifecycle", "max-event-bytes", "retry-wait", "max-time",
        "idle-timeout":
        [.watch]
      default: nil
      }
    }
  }

  /// What must be there for a write to take effect.
  enum Swap: Equatable {
    case given(RecordSwap)
    case row
  }

  private(set) var verb = Verb.list
  private(set) var collection: NSID?
  private(set) var key: RecordKey?
  private(set) var repository: Repository?
  private(set) var watched: [NSID] = []
  private(set) var isReversed = false
  private(set) var isCAR = false
  /// The blob to get; nil to put one of that type.
  private(set) var blob: CID?
  private(set) var blobType = "application/octet-stream"
  private(set) var swap = Swap.given(.any)
  private(set) var state: String?
  private(set) var from: Int?
  private(set) var isQueued = false
  private(set) var timeout: Double?
  private(set) var follow = FollowOptions()
  private(set) var access = AccessOptions()

  /// How long a command that prints the password may receive: who types a passphrase has all the
  /// time, unless some was given.
  var tokenTime: Double? { verb == .watch ? follow.reconnect.maxTime : timeout }

  var limits: PDSLimits {
    // What is kept can be tried again later.
    PDSLimits(timeout: timeout, maxRetries: follow.reconnect.maxRetries ?? (isQueued ? 0 : nil))
  }

  static let table = OptionTable<PDSOptions>(
    program: "pds-record",
    summary: """
      Read and write your records on a personal data server, a line each.
      COMMAND: list, get, create, put, delete, watch, describe, login, export, blob.
      """,
    synopsis: "[options] COMMAND [NAME ...]",
    operands: .verbs(Verb.allCases.map { .init($0.rawValue) }),
    guesses: ["--json": "it prints JSON anyway"],
    options: [
      Option(
        "n", "count", "COUNT", "list, watch: end after this many", .wholeNumber(), \.follow.count),
      Option(
        nil, "repo", "REPO", "whose records: a handle or a DID (default: yours)",
        Reading(repository), \.repository),
      Option(
        nil, "queue", "keep what cannot be sent now in the outbox; read copies offline", \.isQueued),
      Option(nil, "reverse", "list: the oldest key first", \.isReversed),
      Option(
        nil, "swap", "CID", "put, delete: only if the record there has this CID",
        Reading(swap, completion: .words(["none", "row"])), \.swap),
      Option(nil, "state", "FILE", "create, watch: remember in FILE what is done", .path, \.state),
      Option(
        nil, "from", "SEQ", "watch: begin after this event; 0 begins with the first",
        .wholeNumber(), \.from),
      Option(
        nil, "timeout", "SECONDS", "give up a call after this time (default: 60)", .seconds,
        \.timeout),
      AccessOptions.profile.at(\.access),
    ] + FollowOptions.options.filter { $0.entry.name != "count" }.at(\.follow)
      + AccessOptions.credentials.at(\.access),
    rare: [Option(nil, "car", "export: the file as the server has it, with its signature", \.isCAR)]
  ) { options, words throws(UsageError) in try options.finish(words) }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    verb = try words.verb(taking: Verb.taking)
    if let timeout, timeout <= 0 { throw UsageError("--timeout: above 0") }
    if isQueued && repository != nil {
      throw UsageError("--repo and --queue: an outbox is for records of one's own")
    }
    if state?.isEmpty == true { throw UsageError("--state: no file is named") }
    try receive(Array(words.operands.dropFirst()))
    var readsInput = key == nil ? verb.isWrite || verb == .get : verb == .put
    if verb == .blob, blob == nil { readsInput = true }
    if readsInput, access.tokenFile == "-" {
      throw UsageError("standard input cannot be the password and the records")
    }
    if verb == .delete, swap == .given(.absent) {
      throw UsageError("--swap none: there is nothing to delete then")
    }
    if swap == .row, key != nil { throw UsageError("--swap row: there are no rows with a RKEY") }
  }

  private mutating func receive(_ names: [String]) throws(UsageError) {
    if verb == .watch {
      watched = try names.map(Self.nsid)
      return
    }
    if verb == .blob { return try receive(blob: names) }
    let most =
      [.describe, .login, .export].contains(verb) ? 0 : verb == .list || verb == .create ? 1 : 2
    if let first = names.first, first.hasPrefix("at:") {
      try receive(uri: first)
      if names.count > 1 { throw UsageError("too many words: \(names[1])") }
    } else {
      if names.count > most { throw UsageError("too many words: \(names[most])") }
      collection = try names.first.map(Self.nsid)
      key = try names.dropFirst().first.map { name throws(UsageError) in
        guard let key = RecordKey(name) else { throw UsageError("\(name): not a record key") }
        return key
      }
    }
    if most == 1, collection == nil { throw UsageError("\(verb.rawValue) needs a COLLECTION") }
  }

  private mutating func receive(blob names: [String]) throws(UsageError) {
    if names.count > 2 { throw UsageError("too many words: \(names[2])") }
    switch names.first {
    case "put":
      if repository != nil { throw UsageError("--repo is not for blob put") }
      guard names.count > 1 else { return }
      let type = names[1]
      let isType = type.utf8.allSatisfy { $0 > 32 && $0 < 127 } && type.utf8.contains(47)
      guard isType, type.utf8.count <= 200 else {
        throw UsageError("\(type): not a media type, such as image/png")
      }
      blobType = type
    case "get":
      guard names.count > 1 else { throw UsageError("blob get needs a CID") }
      guard let cid = CID(names[1]) else { throw UsageError("\(names[1]): not a CID") }
      blob = cid
    default: throw UsageError("blob needs put or get")
    }
  }

  private mutating func receive(uri text: String) throws(UsageError) {
    guard let uri = ATURI(text) else { throw UsageError("\(text): not an AT URI") }
    if verb == .describe ? uri.collection != nil : verb != .get && verb != .list {
      throw UsageError("\(verb.rawValue) takes names, not the AT URI \(text)")
    }
    if repository != nil { throw UsageError("--repo and an AT URI: one of them says whose") }
    guard verb == .describe || (verb == .get) == (uri.key != nil) else {
      throw UsageError("\(text): not the AT URI of a \(verb == .get ? "record" : "collection")")
    }
    (repository, collection, key) = (uri.repository, uri.collection, uri.key)
  }

  private static func nsid(_ name: String) throws(UsageError) -> NSID {
    guard let collection = NSID(name) else {
      throw UsageError("\(name): not the name of a collection")
    }
    return collection
  }

  @Sendable private static func repository(
    _ argument: OptionArgument
  ) throws(UsageError) -> Repository {
    guard let repository = Repository(argument.value) else {
      throw argument.fault("neither a handle nor a DID")
    }
    return repository
  }

  @Sendable private static func swap(_ argument: OptionArgument) throws(UsageError) -> Swap {
    switch argument.value {
    case "none": return .given(.absent)
    case "row": return .row
    default:
      guard let cid = CID(argument.value) else { throw argument.fault("not a CID, none or row") }
      return .given(.cid(cid))
    }
  }
}
