import Core
import Screen
import Web

/// `mem-search --mirror`: takes the copy.
extension Memory {
  func mirror() throws -> ExitStatus {
    let fetch = try fetch()
    let found = try fetch.all()
    let section = MirrorFile.Section(
      guild: fetch.guild, time: Timestamp.now().rfc3339, isWhole: found.isWhole, rows: found.rows)
    let file: MirrorFile
    do throws(SettingsError) {
      file = try MirrorFile(Folders(), url: caller.backend.base.display)
      try file.replace(section)
    } catch {
      throw CallFailure(error)
    }
    let facts = section.rows.count == 1 ? "1 fact" : "\(section.rows.count) facts"
    try output.record(
      file.record(section, path: file.path),
      facts: [
        ("mirror", Line.Span("\(facts) of guild \(Plain.line(section.guild, limit: 100))")),
        ("path", Line.Span(Plain.line(file.path))),
      ])
    return found.isWhole ? .success : .failure
  }
}
