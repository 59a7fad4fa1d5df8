import CLibc
import Core
import Screen
import Shell

/// share-inbox(1): a folder of files that go into the agent's hands.
@main
enum ShareInbox {
  static func main() {
    let table = InboxOptions.table
    let parsed = table.parseOrExit()
    var diagnostics = Diagnostics(program: table.program)
    do throws(UsageError) {
      let options = try InboxOptions(parsed)
      diagnostics.verbose = options.verbose
      exit(run(options, diagnostics))
    } catch {
      diagnostics.usage(error.problem, table)
    }
  }

  private static func run(_ options: InboxOptions, _ diagnostics: Diagnostics) -> Int32 {
    do {
      let settings = try Settings(diagnostics: diagnostics)
      let path = try options.inbox.map { try absolute($0) } ?? settings.folders.stateFile("inbox")
      let folder = try InboxFolder(path: path)
      let output = ItemOutput(options)
      let status = try job(options, folder, output, settings, diagnostics)
      try output.flush()
      return status
    } catch let failure as WriteFailure {
      diagnostics.fail(writing: failure)
    } catch let failure as SettingsError {
      diagnostics.fail(failure.message, failure.status)
    } catch {
      diagnostics.fail("\(error)")
    }
  }

  private static func job(
    _ options: InboxOptions, _ folder: InboxFolder, _ output: ItemOutput, _ settings: Settings,
    _ diagnostics: Diagnostics
  ) throws -> Int32 {
    let keeper = InboxKeeper(folder: folder, output: output, diagnostics: diagnostics)
    switch options.job {
    case .add(let files):
      let deposit = Deposit(
        folder: folder, suffix: options.suffix, moves: options.moves, maxSize: options.maxSize)
      return try keeper.add(files, by: deposit).rawValue
    case .list: return try keeper.list().rawValue
    case .purge: return try keeper.purge(olderThan: options.age, now: .now()).rawValue
    case .retry(let ids): return try keeper.retry(ids).rawValue
    case .remove(let ids): return try keeper.remove(ids).rawValue
    case .drain(let host), .watch(let host):
      let job = DeliveryJob(options: options, output: output, diagnostics: diagnostics)
      return try job.run(folder, host: host, settings)
    }
  }

  /// A path as one that holds wherever we go.
  private static func absolute(_ path: String) throws(SettingsError) -> String {
    if path.isEmpty { throw SettingsError("--inbox", "no folder") }
    if path.hasPrefix("/") { return path }
    guard let here = currentFolder() else { throw SettingsError(path, systemReason(systemError)) }
    return Folders.join(here, path)
  }
}
