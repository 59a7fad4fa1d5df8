import Core
import Web

/// What the command line of agent-serve says.
struct ServeOptions: Equatable, Sendable {
  /// Where to listen.
  var listen = "127.0.0.1:8787"
  /// The store's file, `:memory:`, or nil for the usual place.
  var database: String?
  /// What it may be called, beside loopback and where it listens.
  var hosts: [Authority] = []
  /// The file that holds the token, nil for the usual places.
  var tokenFile: String?
  /// A file of records to store first, `-` for standard input.
  var ingest: String?
  /// A recording to play.
  var replay: String?
  /// How many times faster; 0 for as fast as possible.
  var speed = 1.0
  /// A server that makes vectors of texts, nil for none.
  var embedURL: String?
  /// The model that is named to it.
  var embedModel: String?
  /// Where a subscriber's backlog ends, bytes.
  var backlog = 8 * 1024 * 1024
  /// Nothing on standard output.
  var isQuiet = false
  /// Notes on standard error.
  var isVerbose = false

  /// The option table.
  static let table = OptionTable(
    program: "agent-serve", summary: "Serve an agent's actions over HTTP, from SQLite.",
    synopsis: "[options]", operands: .none,
    options: [
      Option("l", "listen", "HOST:PORT", "listen there (127.0.0.1:8787); port 0 takes a free one"),
      Option(
        "D", "database", "FILE", "keep the actions in FILE, or in :memory:", completion: .file),
      Option(nil, "host", "NAME", "answer requests for NAME too; may be repeated"),
      Option(nil, "token-file", "FILE", "read the token that requests need", completion: .file),
      Option(
        nil, "ingest", "FILE", "store the records of FILE, - for standard input, then serve",
        completion: .file),
      Option(
        nil, "replay", "FILE", "play a recording of sse-tail -T as live actions",
        completion: .file),
      Option(nil, "speed", "N", "replay N times faster (1); 0: as fast as possible"),
      Option(
        nil, "max-backlog", "BYTES", "disconnect a subscriber this far behind (8388608)"),
      Option(
        nil, "embed-url", "URL", "search facts by meaning too, with the embeddings of that server"),
      Option(nil, "embed-model", "NAME", "the model that makes them (nomic-embed-text)"),
      Option("q", "quiet", nil, "print no records"),
      Option("v", "verbose", nil, "say more on standard error"),
    ])

  /// - Parameter parsed: what the table made of the command line.
  /// - Throws: `UsageError`.
  init(_ parsed: ParsedOptions) throws(UsageError) {
    for item in parsed.items {
      switch item.name {
      case "listen": listen = item.value
      case "database": database = item.path
      case "host":
        guard let name = Authority(item.value) else {
          throw UsageError("--host \(item.value): not a host's name, with or without a port")
        }
        hosts.append(name)
      case "token-file": tokenFile = item.path
      case "ingest": ingest = item.path
      case "replay": replay = item.path
      case "speed":
        guard let value = Double(item.value), value >= 0, value.isFinite else {
          throw UsageError("--speed \(item.value): not a number from 0")
        }
        speed = value
      case "max-backlog":
        guard let value = Int(item.value), value > 0 else {
          throw UsageError("--max-backlog \(item.value): not a number of bytes")
        }
        backlog = value
      case "embed-url":
        do throws(AddressError) { _ = try EmbedClient.endpoint(item.value) } catch {
          throw UsageError("--embed-url \(item.value): \(error.reason)")
        }
        embedURL = item.value
      case "embed-model": embedModel = item.value
      case "quiet": isQuiet = true
      case "verbose": isVerbose = true
      default: break
      }
    }
    if embedModel != nil && embedURL == nil {
      throw UsageError("--embed-model: there is no --embed-url")
    }
    if let word = parsed.operands.first { throw UsageError("\(word): no operand is taken") }
  }
}
