import Agent
import CLibc
import Core
import Screen

struct Editor {
  let path: String

  /// Makes the file, for the user alone.
  init(_ text: String, id: String) throws {
    let folder = Process.environment("TMPDIR") ?? "/tmp"
    let descriptor: Int32
    (descriptor, path) = temporaryFile(beside: "\(folder)/mem-search.\(id)")
    guard descriptor >= 0 else { throw Failure(path, systemReason(systemError), .failure) }
    close(descriptor)
    try write(text)
  }

  /// The command for sh(1): `$VISUAL`, else `$EDITOR`.
  private static var named: String? {
    Process.environment("VISUAL") ?? Process.environment("EDITOR")
  }

  /// Whether the environment names an editor, which then needs no terminal.
  static var isNamed: Bool { named != nil }

  /// Without a name in the environment the editor is vi.
  func edit() throws -> [UInt8] {
    let command = Self.named ?? "vi"
    let name = "'" + path.exchanging("'", for: "'\\''") + "'"
    // What it prints is none of our records. system(3) leaves the keys that
    // interrupt to the editor while it runs.
    clibc_keep_others_private()
    let status = FileName.with("\(command) \(name) >&2") { system($0) }
    guard status != -1 else { throw Failure("editor", systemReason(systemError), .failure) }
    if status != 0 {
      let signal = status & 0x7f
      let how = signal != 0 ? "ended by signal \(signal)" : "status \((status >> 8) & 0xff)"
      throw Failure("editor", "\(how); nothing was sent", .failure)
    }
    // What is edited away altogether is given up.
    return try StateFile(path: path).read() ?? []
  }

  func remove() { unlink(path) }

  private func write(_ text: String) throws(Failure) {
    try StateFile(path: path).replace(with: Array(text.utf8))
  }
}

struct NoteOutput {
  /// The most cells of a line; nil where nobody reads along.
  let width: Int?
  private let depth: ColourDepth
  private let isQuiet: Bool

  init(_ options: MemOptions) {
    let isTerminal = isatty(2) == 1
    isQuiet = options.quiet
    depth = ColourDepth.detect(
      options.look.colour, isTerminal: isTerminal, environment: Process.environment)
    width = options.look.width(on: 2, isTerminal: isTerminal)
  }

  /// Writes the lines; a standard error that cannot be written is nobody's loss.
  func show(_ lines: [Line]) {
    if isQuiet { return }
    let writer = RecordWriter(descriptor: 2)
    try? writer.write(lines.map { $0.render(width: width, depth: depth) + "\n" }.joined())
    try? writer.flush()
  }
}
