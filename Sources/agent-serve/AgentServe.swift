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

/// Waits for the signals that end a server.
struct SignalWait: Sendable {
  private let first: Task<Int32, Never>

  /// Catches TERM, INT and HUP from now on; not HUP under nohup(1).
  init() {
    let signals = [SIGTERM, SIGINT] + (clibc_signal_is_ignored(SIGHUP) ? [] : [SIGHUP])
    for number in signals { _ = clibc_signals_watch(number) }
    let descriptor = clibc_signals_fd()
    first = Task {
      await withCheckedContinuation { continuation in
        // poll(2) blocks: a thread of its own, not one of the tasks' few.
        OwnThread.require {
          var byte: UInt8 = 0
          while read(descriptor, &byte, 1) != 1 {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, -1)
          }
          continuation.resume(returning: Int32(byte))
        }
      }
    }
  }

  /// The first signal that comes.
  func wait() async -> Int32 { await first.value }
}
