import Core
import Notices

/// What the command line of notify-route asks for.
struct RouteCommandOptions {
  var routes = RouteOptions()
  /// Files to read; `-` is standard input.
  var files: [String] = []

  static let table = OptionTable<RouteCommandOptions>(
    program: "notify-route",
    summary: "Decide where notifications go: now or later, how loud, or nowhere.",
    synopsis: "[options] [FILE ...]",
    options: RouteOptions.options.at(\.routes)
  ) { options, words throws(UsageError) in
    options.files = words.paths.isEmpty ? ["-"] : words.paths
  }
}
