import Core
import Notices
import Records

/// `agent-notify --route`: where notifications go, as records.
func route(_ options: NotifyOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  var reader = NoticeReader(options.routes, diagnostics: diagnostics)
  var faults = FaultLog(diagnostics)
  let writer = RecordWriter()
  try RecordInput.each(
    options.files, writtenTo: FileIdentity(descriptor: 1), until: { false },
    fault: { faults.file($0, $1) },
    lines: { input in
      while let line = try input.next(beforeBlocking: { _ in try writer.flush() }) {
        switch reader.read(line.bytes) {
        case .routes(let routes): for route in routes { try writer.write(route.record) }
        case .torn(let routes, let reason):
          for route in routes { try writer.write(route.record) }
          faults.line(input.path, line.number, reason)
        case .bad(let reason): faults.line(input.path, line.number, reason)
        }
      }
    })
  try writer.flush()
  faults.finish()
  return faults.hasFault ? .failure : .success
}
