import Core
import Records
import Screen

enum FileRenderer: CallRenderer {
  static let tools: Set<String> = [
    "read", "read_file", "write", "write_file", "edit", "edit_file", "multiedit", "list_dir", "ls",
    "list", "apply_patch", "create_file", "delete_file", "view", "notebookedit",
  ]

  static func subject(of call: CallView) -> String? {
    call.argument(["path", "file_path", "filePath", "file", "filename", "notebook_path", "dir"])
      ?? call.label ?? call.brief
  }

  static func facts(of call: CallView) -> [Line.Span] {
    guard let output = call.record.stdout, !output.isEmpty else { return [] }
    let count = TextEnds.count(output)
    return [
      Line.Span(count == 1 ? "1 line" : "\(count) lines", .dim),
      Line.Span(Amount.bytes(output.utf8.count), .dim),
    ]
  }
}
