public import Core

/// The options that say which bus and which stream: the same in every command that uses one.
public struct BusOptions: Sendable {
  /// `--server`; none when not given.
  public var servers: [BusServer] = []
  /// `--stream`.
  public var stream: String?
  /// `--bus`, a section of the configuration.
  public var bus: String?
  /// `--max-wait`: how long there may be no server, seconds; nil for ever.
  public var maxWait: Double?
  /// `--allow-plaintext`.
  public var allowsPlaintext = false
  /// `--quiet`.
  public var isQuiet = false
  /// `--verbose`.
  public var isVerbose = false

  /// The stream where none is named.
  public static let usualStream = "agents"

  /// Nothing given.
  public init() {}

  /// For a command's table.
  public static let options: [Option<BusOptions>] = [
    Option(
      "b", "bus", "NAME", "the [bus NAME] of the configuration",
      .word.offering(CompletionNames.buses)
    ) { $0.bus = $1 },
    Option("s", "server", "URL,...", "nats://HOST[:PORT] or tls://HOST[:PORT]", Reading(servers)) {
      $0.servers = $1
    },
    Option("t", "stream", "NAME", "the stream (default: \(usualStream))", .busName) {
      $0.stream = $1
    },
    Option(nil, "max-wait", "SECONDS", "give up after this time without a server", .seconds) {
      $0.maxWait = $1
    },
    Option(nil, "allow-plaintext", "send a secret without TLS to any host") {
      $0.allowsPlaintext = true
    }.rare,
    Option.quiet("say nothing about the connection").at(\.isQuiet),
    Option.verbose("tell more about the connection").at(\.isVerbose),
  ]

  @Sendable private static func servers(
    _ argument: OptionArgument
  ) throws(UsageError) -> [BusServer] {
    let texts = argument.words.filter { !$0.isEmpty }
    if texts.isEmpty { throw argument.fault("nothing is named") }
    return try texts.map { text throws(UsageError) in
      do throws(Failure) {
        return try BusServer(text)
      } catch {
        // What may be a secret is not repeated.
        throw UsageError(
          text.holds("@") ? "--server: \(error.reason)" : "--server \(text): \(error.reason)")
      }
    }
  }
}

extension Reading<String> {
  /// The name of a stream or a consumer.
  public static var busName: Reading {
    Reading { argument throws(UsageError) in
      guard BusSubject.isName(argument.value) else {
        throw argument.fault("not a name: letters, digits, - and _")
      }
      return argument.value
    }
  }
}
