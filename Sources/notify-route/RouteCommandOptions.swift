import Core
import Notices

struct RouteCommandOptions {
  var routes = RouteOptions()
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
