import CLibc
import Testing

/// Frames kept as files under Tests/golden, to be seen by a person once and held
/// against ever after.
///
/// A frame that shall change is written anew by
/// `AGENTUTILS_UPDATE_GOLDEN=1 swift test --disable-xctest --filter Golden`;
/// `git diff` then shows what the change does to the eye.
enum GoldenFile {
  static var isUpdating: Bool { getenv("AGENTUTILS_UPDATE_GOLDEN") != nil }

  /// Compares a text with the file, or writes the file when asked to.
  ///
  /// - Parameters:
  ///   - text: what is shown now, ending with a line end.
  ///   - name: the file's path below Tests/golden.
  static func expect(
    _ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let path = "\(VoiceSamples.tests)/golden/\(name)"
    if isUpdating {
      #expect(write(text, to: path), "\(path) cannot be written", sourceLocation: sourceLocation)
      return
    }
    guard let bytes = VoiceSamples.read(path) else {
      Issue.record(
        "no golden file \(name): AGENTUTILS_UPDATE_GOLDEN=1 makes it",
        sourceLocation: sourceLocation)
      return
    }
    let kept = String(decoding: bytes, as: UTF8.self)
    guard kept != text else { return }
    Issue.record("\(name) has changed:\n\(difference(kept, text))", sourceLocation: sourceLocation)
  }

  /// The lines that differ, `-` as kept and `+` as shown now, with their number.
  static func difference(_ kept: String, _ shown: String) -> String {
    let old = kept.split(separator: "\n", omittingEmptySubsequences: false)
    let new = shown.split(separator: "\n", omittingEmptySubsequences: false)
    var removed: Set<Int> = []
    var inserted: Set<Int> = []
    for change in new.difference(from: old) {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    var rows: [String] = []
    var (before, after) = (0, 0)
    while before < old.count || after < new.count {
      if removed.contains(before) {
        rows.append("-\(before + 1)\t|\(old[before])|")
        before += 1
      } else if inserted.contains(after) {
        rows.append("+\(after + 1)\t|\(new[after])|")
        after += 1
      } else {
        (before, after) = (before + 1, after + 1)
      }
    }
    let most = 40
    let rest = rows.count > most ? ["… and \(rows.count - most) lines more"] : []
    return (rows.prefix(most) + rest).joined(separator: "\n")
  }

  private static func write(_ text: String, to path: String) -> Bool {
    guard let file = fopen(path, "wb") else { return false }
    let bytes = Array(text.utf8)
    let written = fwrite(bytes, 1, bytes.count, file)
    return fclose(file) == 0 && written == bytes.count
  }
}
