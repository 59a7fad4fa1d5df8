import Core
import Records
import Web

/// How a Pincer server is, part by part: what agent-status(1) shows of it.
enum PincerHealth {
  private struct Part {
    let name: String
    var isFine = true
    var words: String

    func record(_ place: String) -> [UInt8] {
      RecordText(.health).string("source", name)
        .string("status", isFine ? "healthy" : "degraded").string("summary", words)
        .json("latency_ms", "0").string("url", place).bytes
    }
  }

  static func run(_ call: OperationCall) throws -> ExitStatus {
    let caller = call.caller
    let policy = try PincerOperations.ask(caller, .getPolicySummary).value["summary"]
    let hasModel = policy?["llm_configured"]?.bool
    var parts = [
      Part(
        name: "server", isFine: hasModel != false,
        words: hasModel == false ? "no model is configured" : "")
    ]
    let jobs = try PincerOperations.ask(caller, .listJobs).value.pincer("items")?.elements ?? []
    let states = jobs.map { $0.pincerEnum("status", PincerWords.jobStates) ?? "" }
    let running = states.count { $0 == "JOB_RUNNING" }
    let waiting = states.count { $0 == "JOB_WAITING_APPROVAL" }
    parts.append(
      Part(
        name: "jobs", words: "\(jobs.count) jobs, \(running) running, \(waiting) wait for a person")
    )
    do throws(Failure) {
      let list = try PincerOperations.ask(caller, .listApprovals).value.pincer("items")
      parts.append(Part(name: "approvals", words: "\(list?.count ?? 0) wait for a person"))
    } catch {
      if error.status == .denied { throw error }
      parts.append(
        Part(name: "approvals", isFine: false, words: "not to be listed: " + error.reason))
    }
    try call.output.list(
      parts.map { $0.record(caller.place("")) }, .joelclawHealth)
    return parts.allSatisfy(\.isFine) ? .success : .negative
  }
}
