import Bus
import CLibc
import Core

/// bus-get(1): the records of a stream on a bus.
public func busGetMain() {
  let options = GetOptions.table.parseOrExit(GetOptions())
  let diagnostics = Diagnostics(program: "bus-get", verbose: options.bus.isVerbose)
  do {
    let door = try BusAuth(options.bus, try Settings(diagnostics: diagnostics))
    EndSignals.watch()
    _ = clibc_signals_note(SIGCHLD)
    let loop = try GetLoop(options, door, diagnostics)
    // Libraries may have threads at work: nothing is left to be put in order.
    Process.exitAtOnce(try loop.run())
  } catch {
    diagnostics.failAtOnce(error)
  }
}
