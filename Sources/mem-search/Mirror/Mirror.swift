import Agent
import Core
import Screen

/// `mem-search --mirror`: takes the copy.
extension Memory {
  func mirror() throws -> ExitStatus {
    var isWhole = true
    for guild in try guilds() {
      let fetch = FactFetch(caller: caller, guilds: [guild], diagnostics: diagnostics)
      let found = try fetch.all()
      isWhole = isWhole && found.isWhole
      try keep(
        MirrorFile.Section(
          guild: guild.id, time: Timestamp.now().rfc3339, isWhole: found.isWhole,
          rows: found.rows))
    }
    return isWhole ? .success : .failure
  }

  private func keep(_ section: MirrorFile.Section) throws {
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
  }
}
