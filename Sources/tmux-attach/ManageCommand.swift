import CLibc
import Core
import Screen
import Shell

enum ManageCommand {
  static func run(_ options: AttachOptions, _ diagnostics: Diagnostics) throws -> Int32 {
    do {
      return try manage(options, diagnostics)
    } catch let error as Failure {
      guard let form = options.form, form.rows == nil else { throw error }
      diagnostics.say(error.message)
      let output = RowOutput(form: nil, look: options.look, isQuiet: false)
      let block = SessionSummary(form).trouble(error.status, error.message)
      try SummaryOutput(form, output).show(block)
      return status(form, options, error.status.rawValue)
    }
  }

  /// A bar hides a block whose command fails.
  private static func status(_ form: ListForm, _ options: AttachOptions, _ status: Int32) -> Int32 {
    form.isBar && options.job == .list ? ExitStatus.success.rawValue : status
  }

  private static func manage(
    _ options: AttachOptions, _ diagnostics: Diagnostics
  ) throws -> Int32 {
    var request = try options.request(diagnostics)
    // What is typed is read, and found good, before anybody is called.
    if options.job == .type, isatty(0) == 1 {
      diagnostics.tellPerson("waits for the text to type; Ctrl-D ends it")
    }
    let text = options.job == .type ? TypeJob.read(options, diagnostics) : nil
    if let text, text.isEmpty {
      diagnostics.note("nothing to type")
      return ExitStatus.success.rawValue
    }
    request.connectTimeout = options.connect.maxTime
    if options.quiet { request.tell = { _ in } }
    let visit = HostVisit(options, diagnostics, request)
    defer { visit.calls.close() }
    // Without its output, a job that has no other purpose would be none.
    let isQuiet = options.quiet && ![.watch, .capture, .asks, .decide].contains(options.job)
    let output = RowOutput(form: options.form?.rows, look: options.look, isQuiet: isQuiet)
    EndSignals.watch()
    do {
      let status = try job(visit, output, text)
      try output.flush()
      return status
    } catch let failure as HostFailure {
      // What came before the failure is good.
      try output.flush()
      let status = visit.fail(failure)
      guard let form = options.form, form.rows == nil else { return status }
      try SummaryOutput(form, output).show(SessionSummary(form).trouble(failure))
      return Self.status(form, options, status)
    }
  }

  private static func job(
    _ visit: HostVisit, _ output: RowOutput, _ text: TypedText?
  ) throws -> Int32 {
    switch visit.options.job {
    case .list: return try SessionJobs(visit, output).list()
    case .new: return try SessionJobs(visit, output).new()
    case .close(let name):
      // The terminal that goes may be our own.
      clibc_signal_ignore(SIGHUP)
      return try SessionJobs(visit, output).close(name)
    case .reconcile: return try SessionJobs(visit, output).reconcile()
    case .watch:
      var job = WatchJob(visit, output)
      return try job.run()
    case .capture:
      var job = CaptureJob(visit, output)
      return try job.run()
    case .asks:
      var job = AsksJob(visit, output)
      return try job.run()
    case .decide:
      var job = DecideJob(visit, output)
      return try job.run()
    case .type:
      guard let text else { return 0 }
      return try TypeJob(visit).run(text)
    default: return ExitStatus.failure.rawValue
    }
  }
}

/// A host whose sessions are looked after: how it is reached, what is remembered of
/// it, and its tmux.
final class HostVisit {
  let options: AttachOptions
  let diagnostics: Diagnostics
  let request: LinkRequest
  let memoryPath: String
  let calls: HostCalls
  let tmux: RemoteTmux

  init(_ options: AttachOptions, _ diagnostics: Diagnostics, _ request: LinkRequest) {
    (self.options, self.diagnostics, self.request) = (options, diagnostics, request)
    memoryPath = SessionMemory.path(for: request)
    calls = HostCalls(request, maxTime: options.connect.maxTime)
    tmux = RemoteTmux(calls, label: request.label)
  }

  var base: String { request.destination.section?.session ?? SessionName.base }

  var session: String { options.session ?? base }

  /// A signal ends the process here.
  func fail(_ failure: HostFailure) -> Int32 {
    calls.close()
    switch failure {
    case .interrupted(let signal): Process.die(by: signal)
    case .noSession where options.quiet: break
    default: for line in failure.lines(of: request.destination.name) { diagnostics.say(line) }
    }
    return failure.exitStatus
  }
}
