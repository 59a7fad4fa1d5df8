import Core
import Screen
import Shell

/// What the command line of tmux-attach asks for.
struct AttachOptions {
  /// The one job of a call.
  enum Job: Equatable {
    case attach, list, watch, new, reconcile, type, capture
    case close(String)
    case fingerprint, forget, authorize, check
  }

  var job = Job.attach
  var connect = ConnectOptions()
  /// The operand; nil for the configured default.
  var host: String?
  var session: String?
  var directory: String?
  var harness: String?
  var usesWorktree = false
  /// With `type`: Return afterwards.
  var pressesReturn = false
  /// Seconds before Return.
  var returnDelay = 0.3
  /// With `type`: control characters pass.
  var isRaw = false
  /// With `capture`: goes on.
  var follows = false
  /// Failed tries in a row before the link is given up; nil for no end.
  var maxRetries: Int?
  /// Seconds one call of the host may take.
  var maxTime = 9.0
  /// Of records.
  var form: RowOutput.Form?
  var look = LookOptions()
  var quiet = false
  var verbose = false

  /// - Throws: `UsageError`.
  init(_ parsed: ParsedOptions) throws(UsageError) {
    for item in parsed.items { try take(item) }
    guard parsed.operands.count < 2 else {
      throw UsageError("\(parsed.operands[1]): one host at a time")
    }
    host = parsed.operands.first
    if job != .type {
      if pressesReturn { throw UsageError("--return makes sense with --type alone") }
      if isRaw { throw UsageError("--raw makes sense with --type alone") }
    }
    if follows && job != .capture {
      throw UsageError("--follow makes sense with --capture alone")
    }
  }

  private mutating func take(_ item: ParsedOptions.Item) throws(UsageError) {
    if try connect.take(item) { return }
    if try look.take(item) { return }
    switch item.name {
    case "session": session = item.value
    case "directory": directory = item.value
    case "harness": harness = item.value
    case "worktree": usesWorktree = true
    case "list": try choose(.list)
    case "watch": try choose(.watch)
    case "new": try choose(.new)
    case "close": try choose(.close(item.value))
    case "reconcile": try choose(.reconcile)
    case "type": try choose(.type)
    case "return": pressesReturn = true
    case "return-delay": returnDelay = try item.seconds()
    case "raw": isRaw = true
    case "capture": try choose(.capture)
    case "follow": follows = true
    case "fingerprint": try choose(.fingerprint)
    case "forget": try choose(.forget)
    case "authorize": try choose(.authorize)
    case "check": try choose(.check)
    case "max-retries": maxRetries = try item.wholeNumber()
    case "max-time": maxTime = try item.seconds()
    case "output": form = try RowOutput.Form(item)
    case "quiet": quiet = true
    case "verbose": verbose = true
    default: break
    }
  }

  private mutating func choose(_ other: Job) throws(UsageError) {
    // -l -w watches the list.
    if (job == .list && other == .watch) || (job == .watch && other == .list) {
      job = .watch
      return
    }
    guard job == .attach || job == other else { throw UsageError("more than one job asked for") }
    job = other
  }
}
