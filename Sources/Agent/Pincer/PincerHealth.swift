import Core
import Records
import Web

extension PincerOperations {
  static func health(_ call: OperationCall) throws -> ExitStatus {
    let caller = call.caller
    var server = HealthPart(name: "server")
    let policy = try ask(caller, .getPolicySummary).value["summary"]
    if policy?["llm_configured"]?.bool == false { server.troubles = ["no model is configured"] }
    let jobs = try ask(caller, .listJobs).value.pincer("items")?.elements ?? []
    let states = jobs.map { $0.pincerEnum("status", PincerWords.jobStates) ?? "" }
    let running = states.count { $0 == "JOB_RUNNING" }
    let waiting = states.count { $0 == "JOB_WAITING_APPROVAL" }
    let words = "\(jobs.count) jobs, \(running) running, \(waiting) wait for a person"
    var approvals = HealthPart(name: "approvals")
    do throws(Failure) {
      let list = try ask(caller, .listApprovals).value.pincer("items")
      approvals.words = ["\(list?.count ?? 0) wait for a person"]
    } catch {
      if error.status == .denied { throw error }
      approvals.troubles = ["not to be listed: " + error.reason]
    }
    return try call.finish(
      [server, HealthPart(name: "jobs", words: [words]), approvals], latency: 0,
      at: caller.place(""))
  }
}
