import Core
import Screen

extension Listing {
  /// `type` `session`, for people and for `-o tsv`.
  static let sessions = Listing(
    columns: columns,
    fields: ["name", "windows", "attached", "created", "activity", "directory", "command"])

  /// `type` `session_change`.
  static let sessionChanges = Listing(
    columns: [.time("TIME", "time"), .own("CHANGE") { Cell.text($0["change"]) }] + columns,
    fields: [
      "time", "change", "name", "windows", "attached", "created", "activity", "directory",
      "command",
    ])

  private static let columns: [Column] = [
    .text("NAME", "name", gives: true),
    .right("WINDOWS") { Cell.text($0["windows"]) },
    .right("ATTACHED") { Cell.text($0["attached"]) },
    .time("CREATED", "created"),
    .time("ACTIVITY", "activity"),
    .text("COMMAND", "command", gives: true),
    .text("DIRECTORY", "directory", gives: true),
  ]
}
