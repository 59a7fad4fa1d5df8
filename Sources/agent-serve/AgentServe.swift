import CLibc
import Core

@main
enum AgentServe {
  static func main() async {
    let options = ServeOptions.table.parseOrExit(ServeOptions())
    let diagnostics = Diagnostics(program: "agent-serve", verbose: options.isVerbose)
    // A body of 1 MiB and its copies. The C library would first keep next to nothing, and after
    // the largest body twice its size.
    clibc_memory_keep(4 << 20)
    await Server(options: options, address: options.listen, diagnostics: diagnostics).run()
  }
}

extension EndSignals {
  /// The first of TERM, INT and HUP that comes from now on; not HUP under nohup(1).
  static func first() -> Task<Int32, Never> {
    let signals = [SIGTERM, SIGINT] + (clibc_signal_is_ignored(SIGHUP) ? [] : [SIGHUP])
    for number in signals { _ = clibc_signals_watch(number) }
    return Task {
      await withCheckedContinuation { continuation in
        // poll(2) blocks: a thread of its own, not one of the tasks' few.
        OwnThread.require {
          while true {
            if let number = next() { return continuation.resume(returning: number) }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, -1)
          }
        }
      }
    }
  }
}
