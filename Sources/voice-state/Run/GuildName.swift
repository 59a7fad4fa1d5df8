import Agent
import Core
import Records

/// Who is meant by `--guild`: an id, or a name that the backend or the records tell.
enum GuildName {
  static func resolved(
    _ options: StateOptions, _ backend: ClankyVoice
  ) throws(Failure) -> StateOptions {
    guard let guild = options.filter.guild else { return options }
    // A bar asks often, and a live view waits for a backend that is away.
    let isHasty = options.isQuiet || options.watches || options.form?.isBar == true
    if isHasty && NameKey.isID(guild) { return options }
    var options = options
    options.filter.guild = try backend.guild(named: guild)
    return options
  }

  static func resolved(
    _ options: StateOptions, in file: String
  ) throws(Failure) -> StateOptions {
    guard let guild = options.filter.guild, !NameKey.isID(guild) else { return options }
    let key = NameKey(guild)
    var ids: [String] = []
    NameScan.read(file) { told in
      guard told.kind == .guild, NameKey(told.name) == key, !ids.contains(told.id) else { return }
      ids.append(told.id)
    }
    guard let id = ids.first else {
      throw Failure(
        "guild \(guild)", "no such id, and no record of a file tells the name", .failure)
    }
    if ids.count > 1 {
      throw Failure(
        "guild \(guild)", "several have this name, give an id: \(ids.joined(separator: ", "))",
        .failure)
    }
    var options = options
    options.filter.guild = id
    return options
  }
}
