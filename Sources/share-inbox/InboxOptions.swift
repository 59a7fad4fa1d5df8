import CLibc
import Core
import Screen
import Shell

struct InboxOptions {
  enum Job: Equatable {
    case add([String])
    case list
    /// The host as written; nil for the configured default.
    case drain(String?)
    case watch(String?)
    case purge
    case retry([String])
    case remove([String])
  }

  enum Target: Equatable {
    case host, local
    /// A command for sh(1).
    case command(String)
  }

  private static func words(taking option: String) -> [String]? {
    let handing = ["drain", "watch"]
    switch option {
    case "move", "extension": return ["add"]
    case "max-size", "bus": return ["add"] + handing
    case "age": return ["purge"] + handing
    case "session", "format", "command", "return", "local", "exec", "when-idle", "max-wait":
      return handing
    default: return ConnectOptions.options.contains { $0.entry.name == option } ? handing : nil
    }
  }

  var job = Job.list
  var connect = ConnectOptions()
  var moves = false
  var suffix: String?
  var session: String?
  var format = PathText.usual
  var isCommand = false
  var pressesReturn = false
  var waitsForIdle = false
  /// Seconds that this may take.
  var maxWait = RemoteTmux.usualIdleWait
  var target = Target.host
  private var targets: [Target] = []
  /// Bytes.
  var maxSize: Int64 = 200 << 20
  /// Seconds; what is older is purged.
  var age: Double?
  var inbox: String?
  var usesBus = false
  var form: RowOutput.Form?
  var look = LookOptions()
  var quiet = false
  var verbose = false

  static let table = OptionTable<InboxOptions>(
    program: "share-inbox",
    summary: "Upload files to the agent's machine and type their paths, each exactly once.",
    synopsis: "add FILE ...|list|drain|watch [HOST]|purge|retry|remove ID",
    operands: .verbs([
      .init("add", .file), .init("list"), .init("drain", CompletionNames.hosts),
      .init("watch", CompletionNames.hosts), .init("purge"), .init("retry", ids),
      .init("remove", ids),
    ]),
    options: [
      Option("m", "move", "add: move the files instead of copying them", \.moves),
      Option(
        "x", "extension", "EXT", "add: the type, whatever the name says", Reading(suffix), \.suffix),
      Option(
        "s", "session", "NAME", "into this session (default: the last one used)",
        SessionName.reading, \.session),
      Option(
        nil, "format", "TEXT", "type this, {path} being the file's path (default: '{path} ')",
        Reading(PathText.checked), \.format),
      Option("r", "return", "press Return after the path", \.pressesReturn),
      Option(nil, "when-idle", "type only when the agent is idle", \.waitsForIdle),
      Option(nil, "local", "into the tmux of this machine", \.targets, .local),
      Option(
        nil, "exec", "COMMAND", "hand each file to COMMAND on its standard input instead",
        .path.offering(.none)
      ) { $0.targets.append(.command($1)) },
      Option(
        nil, "max-size", "BYTES", "refuse larger files, also to add (default: 200M)",
        Reading(bytes), \.maxSize),
      Option("a", "age", "TIME", "purge what is older (purge: 24h)", .seconds, \.age),
      Option(nil, "bus", "add: put it on a bus; drain, watch: take from it, too", \.usesBus),
      Option(nil, "inbox", "DIR", "the folder (default: in the state folder)", .path, \.inbox),
      RowOutput.Form.output.at(\.form), LookOptions.header.at(\.look),
      LookOptions.colour.at(\.look),
      Option.quiet("no records and no progress").at(\.quiet),
      Option.verbose("tell about the connection and each step").at(\.verbose),
    ] + ConnectOptions.options.at(\.connect),
    rare: [
      Option(
        nil, "command", "type what the agent runs in a shell, too: ! in front of --format",
        \.isCommand),
      Option(
        nil, "max-wait", "SECONDS", "how long to wait for that (default: 600)", .seconds, \.maxWait),
    ]
  ) { options, words throws(UsageError) in try options.finish(words) }

  private static let verbs = ["add", "list", "drain", "watch", "purge", "retry", "remove"]
  private static let words = verbs.dropLast().joined(separator: ", ") + " or remove"

  private static let ids = Completion.live {
    guard let path = try? Folders().stateFile("inbox"), access(path, R_OK) == 0,
      let folder = try? InboxFolder(path: path)
    else { return [] }
    return (try? folder.scan().items.map(\.name.id)) ?? []
  }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    if targets.count > 1 { throw UsageError("--local and --exec exclude each other") }
    target = targets.first ?? .host
    guard let word = words.operands.first else {
      throw UsageError("a command is needed: \(Self.words)")
    }
    job = try Self.job(word, Array(words.paths.dropFirst()))
    if let name = words.names.first(where: { Self.words(taking: $0)?.contains(word) == false }) {
      throw UsageError("--\(name) is not for \(word)")
    }
    switch job {
    case .drain(.some) where target != .host, .watch(.some) where target != .host:
      throw UsageError("a host makes no sense with --local or --exec")
    default: break
    }
    if case .command = target, waitsForIdle {
      throw UsageError("--when-idle is for a session, not for --exec")
    }
  }

  private static func job(_ word: String, _ rest: [String]) throws(UsageError) -> Job {
    let most = ["list": 0, "purge": 0, "drain": 1, "watch": 1][word]
    if let most, rest.count > most {
      throw UsageError("\(word): \(rest[most]) is one word too many")
    }
    let what = ["add": "file", "retry": "id", "remove": "id"][word]
    if let what, rest.isEmpty { throw UsageError("\(word): no \(what)") }
    switch word {
    case "add": return .add(rest)
    case "list": return .list
    case "drain": return .drain(rest.first)
    case "watch": return .watch(rest.first)
    case "purge": return .purge
    case "retry": return .retry(rest)
    case "remove": return .remove(rest)
    default:
      let same = ["ls": "list", "rm": "remove", "delete": "remove", "send": "add", "upload": "add"]
      let hint =
        same[word].map { ": did you mean \($0)?" }
        ?? (access(word, F_OK) == 0
          ? ": to upload a file: share-inbox add \(word)"
          : NearestWord.hint(for: word, among: Self.verbs))
      throw UsageError("\(word): not \(words)\(hint)")
    }
  }

  @Sendable private static func suffix(_ argument: OptionArgument) throws(UsageError) -> String {
    guard ItemName.isSuffix(Array(argument.value.utf8)) else {
      throw argument.fault("not 1 to 8 letters and digits")
    }
    return argument.value
  }

  /// A number of bytes: digits, and K, M or G for powers of 1024.
  @Sendable private static func bytes(_ argument: OptionArgument) throws(UsageError) -> Int64 {
    let value = argument.value
    let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let unit = value.last.flatMap { units[Character($0.uppercased())] }
    let digits = unit == nil ? value[...] : value.dropLast()
    let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { (48...57).contains($0) }
    guard isNumber, let number = Int64(digits) else {
      throw argument.fault("not a number of bytes, nor 10K, 200M, 1G")
    }
    let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: unit ?? 1)
    return isTooMuch ? Int64.max : bytes
  }
}
