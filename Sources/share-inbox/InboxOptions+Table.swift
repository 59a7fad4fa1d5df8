import Core
import Screen
import Shell

extension InboxOptions {
  static let table = OptionTable(
    program: "share-inbox",
    summary: "Drop a file, and it is in the agent's hands exactly once.",
    synopsis: "add FILE ... | list | drain [HOST] | watch [HOST] | purge | retry ID | remove ID",
    operands: .file,
    options: [
      Option("m", "move", nil, "add: move the files instead of copying them"),
      Option("x", "extension", "EXT", "add: the type, whatever the name says"),
      Option(
        "s", "session", "NAME", "into this session (default: the last one used)",
        completion: .live(SessionMemory.names)),
      Option(nil, "format", "TEXT", "type this, {path} being the file's path (default: '{path} ')"),
      Option("r", "return", nil, "press Return after it"),
      Option(nil, "local", nil, "into the tmux of this machine"),
      Option(nil, "exec", "COMMAND", "hand each file to COMMAND on its standard input instead"),
      Option(nil, "max-size", "BYTES", "refuse larger files, also to add (default: 200M)"),
      Option("a", "age", "TIME", "purge: what is older (default: 24h)"),
      Option(nil, "inbox", "DIR", "the folder (default: in the state folder)", completion: .file),
    ] + ConnectOptions.table + [
      Option(nil, "max-time", "SECONDS", "for one answer of the host (default: 9)"),
      RowOutput.Form.option,
      LookOptions.colourOption,
      Option("q", "quiet", nil, "no records and no progress"),
      Option("v", "verbose", nil, "notes about the transport and each step"),
    ])
}
