public import Agent
import CLibc
import Core
import Kinds
import Records
public import Screen

/// agent-call(1): asks the backend anything, a row per record.
public func agentCallMain() {
  CallOptions.table.run(CallOptions(now: .now()), verbose: \.verbose, run)
}

private func run(
  _ options: CallOptions, _ diagnostics: Diagnostics
) throws -> ExitStatus {
  let output = RowOutput(
    form: options.form, look: options.look, isQuiet: options.arguments.isQuiet)
  do {
    let caller = try Caller(
      options.access, for: .call, maxTime: options.maxTime, diagnostics: diagnostics)
    let profile = caller.backend.profile
    let operation = try options.operation(
      of: (profile?.kind ?? .clanky).backend, named: profile?.name ?? "AGENT_URL")
    if options.arguments.count == 0 { return .success }
    let status = try operation.run(
      OperationCall(
        operation.name, options.arguments, caller: caller, output: output,
        diagnostics: diagnostics))
    try output.flush()
    return status
  } catch let failure as Failure {
    // What came before the failure is good.
    try output.flush()
    throw failure
  }
}

extension RowOutput: OperationOutput {
  /// Whether it is for a person.
  public var isTable: Bool { form == .table }
}

extension Operation {
  static let raw = [
    raw("get", options: ["count"]), raw("post", options: ["data"]), raw("put", options: ["data"]),
    raw("delete", options: ["data"]),
  ]

  /// Those whose body comes from standard input when `--data` is not given.
  static let readInput: Set = ["post", "put"]

  private static func raw(_ name: String, options: Set<String>) -> Operation {
    Operation(name, Operand("PATH", isNeeded: true), options: options) { try anything($0) }
  }

  private static func anything(_ call: OperationCall) throws -> ExitStatus {
    let path = call.arguments.operand ?? ""
    if path.drop(while: { $0.isLetter }).hasPrefix("://") {
      let shown = path.split(separator: "?", omittingEmptySubsequences: false).first ?? ""
      throw Failure(String(shown), "a path of the backend is needed, not a url", .failure)
    }
    let body = call.name == "get" ? nil : try body(call)
    let reply = try call.caller.call(path, method: call.name.uppercased(), body: body)
    let answer = try Answer(reply, place: call.caller.place(path))
    switch answer {
    case .nothing: return .success
    case .null:
      try call.output.record(Array("null".utf8), facts: nil)
      return .negative
    case .rows(let rows):
      if rows.isEmpty { return .negative }
      let first = Array(rows.prefix(call.arguments.count ?? .max))
      try call.output.list(first, .any(first))
      return .success
    case .record(let record):
      try call.output.record(record, facts: nil)
      return answer.refusal == nil ? .success : .negative
    }
  }

  /// Nil when there is nothing to send.
  private static func body(_ call: OperationCall) throws(Failure) -> [UInt8]? {
    let given = call.arguments.data ?? (readInput.contains(call.name) ? "@-" : nil)
    guard let given else { return nil }
    var (name, body) = ("--data", FileName.bytes(given))
    if given.hasPrefix("@") {
      if call.arguments.data == nil, isatty(0) == 1 {
        throw Failure("standard input", "a terminal; give the JSON with --data", .failure)
      }
      name = given == "@-" ? "standard input" : String(given.dropFirst())
      body = try BoundedFile.text(String(given.dropFirst()))
    }
    if body.isEmpty { return body }
    if let (fault, offset) = body.withUnsafeBytes({ ScanValidator.firstFault($0) }) {
      throw Failure(name, "not JSON: \(fault.reason) at byte \(offset)", .failure)
    }
    return body
  }
}
