import Bus
import CLibc
import Core

/// bus-put(1): records, a line each, to a stream on a bus.
public func busPutMain() {
  let options = PutOptions.table.parseOrExit(PutOptions())
  let diagnostics = Diagnostics(program: "bus-put", verbose: options.bus.isVerbose)
  do {
    let door = try BusAuth(options.bus, try Settings(diagnostics: diagnostics))
    EndSignals.watch()
    let loop = try PutLoop(options, door, diagnostics)
    // Libraries may have threads at work: nothing is left to be put in order.
    Process.exitAtOnce(try loop.run())
  } catch {
    diagnostics.failAtOnce(error)
  }
}
