import CLibc
import Core
import Screen
import Shell

/// The jobs that look after sessions without sitting down at one.
enum ManageCommand {
  /// Does the job of the options.
  ///
  /// - Returns: the exit status.
  /// - Throws: `UsageError` for options that do not fit.
  static func run(_ options: AttachOptions, _ diagnostics: Diagnostics) throws(UsageError) -> Int32
  {
    if let name = options.session { _ = try SessionName.checked(name) }
    // What is typed is read, and found good, before anybody is called.
    let text = options.job == .type ? TypeJob.read(options, diagnostics) : nil
    if let text, text.isEmpty {
      diagnostics.note("nothing to type")
      return ExitStatus.success.rawValue
    }
    let visit = HostVisit(
      options, diagnostics, request(options, diagnostics),
      makeLink: { Connector.link(for: $0, now: $1) })
    // Without its output, a job that has no other purpose would be none.
    let isQuiet = options.quiet && options.job != .watch && options.job != .capture
    let output = RowOutput(form: options.form, look: options.look, isQuiet: isQuiet)
    EndSignals.watch()
    do {
      let status = try job(visit, output, text)
      try output.flush()
      visit.close()
      return status
    } catch let error as TmuxError {
      // What came before the failure is good.
      do { try output.flush() } catch { diagnostics.fail(writing: error) }
      return visit.fail(error)
    } catch let failure as WriteFailure {
      visit.close()
      diagnostics.fail(writing: failure)
    } catch let error as SettingsError {
      visit.close()
      diagnostics.fail(error.message, error.status)
    } catch let error as UsageError {
      visit.close()
      throw error
    } catch {
      diagnostics.fail("\(error)")
    }
  }

  /// - Throws: `TmuxError`, `WriteFailure`, `SettingsError`, `UsageError`.
  private static func job(
    _ visit: HostVisit, _ output: RowOutput, _ text: TypedText?
  ) throws -> Int32 {
    switch visit.options.job {
    case .list: return try SessionJobs(visit, output).list()
    case .new: return try SessionJobs(visit, output).new()
    case .close(let name): return try SessionJobs(visit, output).close(name)
    case .reconcile: return try SessionJobs(visit, output).reconcile()
    case .watch:
      var job = WatchJob(visit, output)
      return try job.run()
    case .capture:
      var job = CaptureJob(visit, output)
      return try job.run()
    case .type:
      guard let text else { return 0 }
      return try TypeJob(visit).run(text)
    default: return ExitStatus.failure.rawValue
    }
  }

  private static func request(
    _ options: AttachOptions, _ diagnostics: Diagnostics
  ) -> LinkRequest {
    var request: LinkRequest
    do throws(SettingsError) {
      let settings = try Settings(diagnostics: diagnostics)
      do throws(TargetError) {
        request = try LinkRequest.make(
          host: options.host, options: options.connect, settings: settings)
      } catch {
        diagnostics.fail(error, AttachOptions.table)
      }
    } catch {
      diagnostics.fail(error.message, error.status)
    }
    request.connectTimeout = options.maxTime
    request.ask = Prompt.ask
    request.note = { diagnostics.note($0) }
    if !options.quiet { request.tell = { diagnostics.say($0) } }
    return request
  }
}
