import Core
import Screen
import Shell

/// What the command line of share-inbox asks for.
struct InboxOptions {
  /// What is to be done.
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

  /// Where files are handed to.
  enum Target: Equatable {
    case host, local
    /// A command for sh(1).
    case command(String)
  }

  var job = Job.list
  var connect = ConnectOptions()
  var moves = false
  /// Of `add`: the suffix.
  var suffix: String?
  var session: String?
  /// What is typed for a file.
  var format = PathText.usual
  var pressesReturn = false
  var target = Target.host
  /// Bytes.
  var maxSize: Int64 = 200 << 20
  /// Seconds; what is older is purged.
  var age = 86_400.0
  var inbox: String?
  /// Seconds one answer of the host may take.
  var maxTime = 9.0
  var form: RowOutput.Form?
  var look = LookOptions()
  var quiet = false
  var verbose = false

  /// - Throws: `UsageError`.
  init(_ parsed: ParsedOptions) throws(UsageError) {
    for item in parsed.items { try take(item) }
    guard let word = parsed.operands.first else {
      throw UsageError("what is to be done: add, list, drain, watch, purge, retry or remove?")
    }
    job = try Self.job(word, Array(parsed.paths.dropFirst()))
    if case .drain(.some) = job, target != .host {
      throw UsageError("a host makes no sense with --local or --exec")
    }
    if case .watch(.some) = job, target != .host {
      throw UsageError("a host makes no sense with --local or --exec")
    }
  }

  private static func job(_ word: String, _ rest: [String]) throws(UsageError) -> Job {
    func atMost(_ count: Int) throws(UsageError) {
      if rest.count > count { throw UsageError("\(word): \(rest[count]) is one word too many") }
    }
    func atLeastOne(_ what: String) throws(UsageError) -> [String] {
      if rest.isEmpty { throw UsageError("\(word): no \(what)") }
      return rest
    }
    switch word {
    case "add": return .add(try atLeastOne("file"))
    case "list":
      try atMost(0)
      return .list
    case "drain":
      try atMost(1)
      return .drain(rest.first)
    case "watch":
      try atMost(1)
      return .watch(rest.first)
    case "purge":
      try atMost(0)
      return .purge
    case "retry": return .retry(try atLeastOne("id"))
    case "remove": return .remove(try atLeastOne("id"))
    default:
      throw UsageError("\(word): not add, list, drain, watch, purge, retry or remove")
    }
  }

  private mutating func take(_ item: ParsedOptions.Item) throws(UsageError) {
    if try connect.take(item) { return }
    if try look.take(item) { return }
    switch item.name {
    case "move": moves = true
    case "extension":
      guard ItemName.isSuffix(Array(item.value.utf8)) else {
        throw UsageError("--extension \(item.value): not 1 to 8 letters and digits")
      }
      suffix = item.value
    case "session": session = try SessionName.checked(item.value)
    case "format": format = try PathText.checked(item)
    case "return": pressesReturn = true
    case "local": try aim(.local)
    case "exec": try aim(.command(item.path))
    case "max-size": maxSize = try Self.bytes(item)
    case "age": age = try item.seconds()
    case "inbox": inbox = item.path
    case "max-time": maxTime = try item.seconds()
    case "output": form = try RowOutput.Form(item)
    case "quiet": quiet = true
    case "verbose": verbose = true
    default: break
    }
  }

  private mutating func aim(_ other: Target) throws(UsageError) {
    guard target == .host else { throw UsageError("--local and --exec exclude each other") }
    target = other
  }

  /// A number of bytes: digits, and K, M or G for powers of 1024.
  private static func bytes(_ item: ParsedOptions.Item) throws(UsageError) -> Int64 {
    let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let unit = item.value.last.flatMap { units[Character($0.uppercased())] }
    let digits = unit == nil ? item.value[...] : item.value.dropLast()
    let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { (48...57).contains($0) }
    guard isNumber, let number = Int64(digits) else {
      throw UsageError("--\(item.name) \(item.value): not a number of bytes, nor 10K, 200M, 1G")
    }
    let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: unit ?? 1)
    return isTooMuch ? Int64.max : bytes
  }
}
