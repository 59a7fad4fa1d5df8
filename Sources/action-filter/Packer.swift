import Archive
import Core
import Records

/// Packs lines, whatever they are, with an index: `--pack`.
func pack(_ path: String, to output: RecordWriter) throws {
  var input = try RecordInput(path: path, writtenTo: FileIdentity(descriptor: 1), .bytes)
  let level = FrameEncoder.level(Process.environment("ZSTD_CLEVEL"))
  var writer = PackWriter(level: level, to: output)
  let noter = FrameNoter()
  var frame = ByteBuffer()
  while let line = try input.next() {
    if !frame.isEmpty, frame.count + line.whole.count >= PackWriter.frame {
      try writer.add(frame.bytes, noter.finish())
      frame.removeAll(keepingAtMost: 2 * PackWriter.frame)
    }
    noter.note(line)
    frame.append(line.whole)
    if line.isTerminated { frame.append(10) }
  }
  if !frame.isEmpty { try writer.add(frame.bytes, noter.finish()) }
  try writer.finish()
}
