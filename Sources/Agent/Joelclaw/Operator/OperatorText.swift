import Core
import Records
import Web

/// What Inngest is asked in GraphQL, and what its answers say (CONTRACT.md 5).
enum InngestText {
  static let path = "v0/gql"

  static func body(_ query: String) -> [UInt8] { RecordText().string("query", query).bytes }

  static let functions = "{functions{id slug name triggers{type value}}}"

  static func runs(since: Timestamp, count: Int) -> String {
    """
    {functions{id slug name} runs(filter:{from:"\(since.rfc3339)"},\
    orderBy:[{field:STARTED_AT,direction:DESC}],first:\(count))\
    {edges{node{id status functionID startedAt endedAt output}}}}
    """
  }

  static func events(since: Timestamp, count: Int) -> String {
    """
    {eventsV2(first:\(count),filter:{from:"\(since.rfc3339)",includeInternalEvents:false})\
    {edges{node{id name occurredAt raw}}}}
    """
  }

  /// How runs are by now: a list may show one at work that has ended.
  static func details(_ ids: [String]) -> String {
    let parts = ids.enumerated().map { "r\($0):run(runID:\"\($1)\"){status endedAt output}" }
    return "{" + parts.joined(separator: " ") + "}"
  }

  /// Whether an id may stand in a question as it is.
  static func isPlain(_ id: String) -> Bool {
    !id.isEmpty && id.utf8.allSatisfy { $0.isAlphanumeric || $0 == 0x2d }
  }

  static func fault(_ answer: JSONValue) -> String? {
    guard let errors = answer["errors"] else { return nil }
    switch errors.kind {
    case .null: return nil
    case .array, .object: if errors.count == 0 { return nil }
    case .string: if errors.string == "" { return nil }
    case .integer, .real, .bool: break
    }
    let first = errors.element(0) ?? errors
    return first["message"]?.text ?? first.text ?? "an error without words"
  }

  static func tasks(
    _ data: JSONValue, _ details: [String: JSONValue], _ origin: RecordOrigin
  ) -> [[UInt8]]? {
    guard data["runs"]?["edges"]?.kind == .array else { return nil }
    var names: [String: (name: String?, slug: String?)] = [:]
    for each in data["functions"]?.elements ?? [] {
      if let id = each["id"]?.string { names[id] = (each["name"]?.string, each["slug"]?.string) }
    }
    return nodes(data["runs"]).compactMap { run in
      guard let id = run["id"]?.text else { return nil }
      let detail = details[id]
      let function = run["functionID"]?.string ?? ""
      let status = detail?["status"]?.string ?? run["status"]?.string ?? ""
      let ended = detail?["endedAt"]?.time ?? run["endedAt"]?.time
      let known = names[function]
      var task = TaskRecord(
        origin, id: id, title: known?.name ?? known?.slug ?? function, state: state(status),
        kind: .job, time: ended ?? run["startedAt"]?.time)
      task.last = run["startedAt"]?.time
      if task.state == .failed {
        task.notes = (detail?["output"] ?? run["output"])?.string(bytes: 1000)
      }
      return task.bytes
    }
  }

  static func running(_ data: JSONValue) -> [String] {
    nodes(data["runs"]).filter { $0["status"]?.string == "RUNNING" }.compactMap { $0["id"]?.text }
  }

  /// The details of an answer to `details`, by the ids that were asked for; those that are null
  /// are left out.
  static func found(_ data: JSONValue, _ ids: [String]) -> [String: JSONValue] {
    var found: [String: JSONValue] = [:]
    for (number, id) in ids.enumerated() {
      if let detail = data["r\(number)"], detail.isObject { found[id] = detail }
    }
    return found
  }

  private static func nodes(_ list: JSONValue?) -> [JSONValue] {
    (list?["edges"]?.elements ?? []).compactMap { $0["node"] }
  }

  private static func state(_ status: String) -> TaskRecord.State {
    switch status {
    case "COMPLETED": .done
    case "FAILED": .failed
    case "CANCELLED": .cancelled
    case "QUEUED": .waiting
    default: .running
    }
  }
}

extension TaskRecord {
  /// A loop, of the text that Redis keeps of it.
  static func loop(_ id: String, _ text: String, _ origin: RecordOrigin) -> [UInt8]? {
    guard let value = try? JSONValue.parse(text: text), value.isObject else { return nil }
    let stories = value["stories"]?.elements ?? []
    let passed = stories.filter { $0["passes"]?.bool == true }.count
    let skipped = stories.filter { $0["skipped"]?.bool == true && $0["passes"]?.bool != true }.count
    let next = stories.first { $0["passes"]?.bool != true && $0["skipped"]?.bool != true }
    let isOver = !stories.isEmpty && passed + skipped == stories.count
    var task = TaskRecord(
      origin, id: id, title: value["title"]?.string ?? id, state: isOver ? .done : .running,
      kind: .job, time: nil)
    let notes = [
      "\(passed + skipped) of \(stories.count)", skipped == 0 ? nil : "\(skipped) skipped",
      next?["title"]?.string.map { "next: \($0)" },
    ]
    task.notes = notes.compactMap(\.self).joined(separator: ", ")
    return task.bytes
  }
}

/// The commands that redis-cli reads, and the lines that it prints with --json: a JSON value
/// for each reply, or `error:` and a string.
enum RedisText {
  static let health = [
    "PING", "XLEN joelclaw:gateway:messages", "XLEN joelclaw:queue:events",
    "GET joelclaw:mode", "EXISTS system:sleep",
  ]
  private static let loopPrefix = "agent-loop:prd:"

  static func loops(from cursor: String) -> [String] {
    ["SCAN \(quoted(cursor)) MATCH \(loopPrefix)* COUNT 1000"]
  }

  static func values(of keys: [String]) -> [String] {
    ["MGET " + keys.map(quoted).joined(separator: " ")]
  }

  static func loop(_ key: String) -> String? {
    key.hasPrefix(loopPrefix) ? String(key.dropFirst(loopPrefix.count)) : nil
  }

  static func quoted(_ word: String) -> String {
    var text = "\""
    for byte in word.utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, 0x2d, 0x2e, 0x3a, 0x5f:
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += "\\x\([byte].hex)"
      }
    }
    return text + "\""
  }

  static func isRefusal(_ reason: String) -> Bool {
    ["NOAUTH", "WRONGPASS", "NOPERM"].contains { reason.hasPrefix($0) }
  }

  enum Reply {
    case value(JSONValue)
    case error(String)
  }

  /// Those to commands; before them stands what came of the password and the database number.
  static func replies(_ output: [UInt8], to count: Int) -> [Reply]? {
    let lines = output.split(separator: 10).map(reply)
    for case .error(let reason) in lines.count < count ? lines[...] : lines.dropLast(count) {
      return [.error(reason)]
    }
    return lines.count < count ? nil : Array(lines.suffix(count))
  }

  private static func reply(_ line: ArraySlice<UInt8>) -> Reply {
    let isError = line.starts(with: Array("error:".utf8))
    // Keys and values are bytes of any kind.
    let text = (isError ? line.dropFirst(6) : line).withUnsafeBytes { UTF8Text.repaired($0) }
    let value = try? JSONValue.parse(text)
    if isError { return .error(value?.string ?? String(decoding: text, as: UTF8.self)) }
    guard let value else {
      return .error("not JSON: \(String(decoding: text.prefix(200), as: UTF8.self))")
    }
    return .value(value)
  }
}

/// Where a Redis is: `redis://HOST[:PORT][/NUMBER]`, or `rediss` with TLS.
struct RedisPlace: Equatable {
  let isSecure: Bool
  /// The host in lower case; an IPv6 address in brackets.
  let host: String
  let port: Int
  let number: Int

  private static let usualPort = 6379

  init(_ url: String) throws(Failure) {
    let scheme = url.prefix { $0 != ":" }.lowercased()
    isSecure = scheme == "rediss"
    guard isSecure || scheme == "redis", url.dropFirst(scheme.count).hasPrefix("://") else {
      throw Self.fault("not a redis or rediss url")
    }
    let rest = url.dropFirst(scheme.count + 3)
    // A port that is not written is another one for each of these schemes.
    let place = OperatorSource.redis.key
    let plain = try Failure.at(place, WebAddress("http://" + rest))
    let secure = try Failure.at(place, WebAddress("https://" + rest))
    if plain.password != nil {
      throw Self.fault("holds a password: name its file in redis-password-file")
    }
    if plain.user != nil {
      throw Self.fault("names a user: only the usual one can log in")
    }
    host = plain.host
    port = plain.port == secure.port ? plain.port : Self.usualPort
    let tail = rest.drop { !"/?#".contains($0) }
    let digits = tail.dropFirst()
    let isNumber = digits.utf8.count <= 6 && digits.utf8.allSatisfy { (48...57).contains($0) }
    guard tail.isEmpty || tail.first == "/" && isNumber else {
      throw Self.fault("what follows the host is no number of a database")
    }
    number = Int(digits) ?? 0
  }

  private static func fault(_ reason: String) -> Failure {
    Failure(OperatorSource.redis.key, reason)
  }

  var name: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }

  var display: String {
    let path = number == 0 ? "" : "/\(number)"
    return "\(isSecure ? "rediss" : "redis")://\(host):\(port)\(path)"
  }
}
