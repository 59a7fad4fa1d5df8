import Agent
import Core
import Web

struct WsOptions {
  var url = ""
  var dataOnly = false
  var data: String?
  var headers: [String] = []
  /// Seconds; nil for never.
  var ping: Double?
  var sends = false
  var subprotocols: [String] = []
  var follow = FollowOptions()
  var access = AccessOptions()

  static let table = OptionTable<WsOptions>(
    program: "ws-tail",
    summary: "Follow a WebSocket, one JSON record per message.",
    synopsis: "[options] URL", guesses: ["--json": "it prints JSON anyway"],
    options: [
      Option("d", "data-only", "print only the data of each message", \.dataOnly),
      RequestArguments.header.at(\.headers),
      Option(
        nil, "data", "DATA", "send this text on each connection; @FILE: what FILE has",
        .path.offering(.none), \.data),
      Option(nil, "send", "send the lines of standard input, a text message each", \.sends),
      Option(
        nil, "subprotocol", "NAME", "offer a subprotocol; repeatable",
        RequestArguments.token("the name of a subprotocol"), \.subprotocols),
      Option(nil, "ping", "SECONDS", "send a ping this often; 0 never", .seconds) {
        $0.ping = $1 > 0 ? $1 : nil
      },
    ] + FollowOptions.options(of: "message", article: "a").at(\.follow)
      + AccessOptions.options.at(\.access)
  ) { options, words throws(UsageError) in try options.finish(words) }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    guard let first = words.operands.first else { throw UsageError("a URL is needed") }
    if words.operands.count > 1 {
      throw UsageError("one stream at a time: \(words.operands[1])")
    }
    if dataOnly, follow.receivedAt {
      throw UsageError("--data-only leaves no room for the time of --received-at")
    }
    if sends, data == "@-" { throw UsageError("standard input is either --send's or --data's") }
    if sends, headers.contains("@-") {
      throw UsageError("standard input is either --send's or --header's")
    }
    url = first
    follow.thing = "message"
  }
}
