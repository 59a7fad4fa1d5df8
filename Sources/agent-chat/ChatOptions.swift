import Agent
import Core
import Screen
import Web

struct ChatOptions {
  enum Mode: String {
    case message
    case interactive
    case history, agents, threads, abort

    var isTalk: Bool { self == .message || self == .interactive || self == .abort }
  }

  enum Form: String, CaseIterable { case text, json }

  private(set) var mode = Mode.message
  private var modes: [Mode] = []
  private(set) var thread: String?
  private(set) var agent: String?
  /// Rows of `--history`.
  private(set) var count = 50
  private(set) var form = Form.text
  private(set) var files: [String] = []
  private(set) var key: String?
  private(set) var isAgain = false
  private(set) var speech: String?
  private(set) var isQueued = false
  private(set) var isNew = false
  private(set) var manner = ChatManner()
  /// What of these was asked for.
  private(set) var parts: [ChatManner.Part] = []
  private(set) var waits = false
  /// `--timeout`, seconds.
  private(set) var timeout: Double?
  private(set) var look = LookOptions()
  private(set) var reconnect = ReconnectOptions()
  private(set) var access = AccessOptions()
  private(set) var isQuiet = false
  private(set) var isVerbose = false
  private(set) var words: String?

  private static let usualRetries = 5
  private static let mostRows = 1000

  static let table = OptionTable<ChatOptions>(
    program: "agent-chat",
    summary: "Say something to an agent and print its answer.",
    synopsis: "[options] [MESSAGE ...]", operands: .none,
    options: [
      Option(
        "a", "agent", "AGENT", "talk to this agent (default: the server's choice)", .threadName
      ) {
        $0.agent = $1
      },
      Option("i", "interactive", "talk at the terminal until Ctrl-D") {
        $0.modes.append(.interactive)
      },
      Option(
        "n", "count", "COUNT", "of --history: the last COUNT messages (default: 50)",
        .wholeNumber(in: 1...mostRows)
      ) { $0.count = $1 },
      Option(
        "o", "output", "FORM", "text or json (default: text)", .choice(of: Form.self)
      ) { $0.form = $1 },
      Option("t", "thread", "THREAD", "in this conversation (default: the main one)", .threadName) {
        $0.thread = $1
      },
      Option("w", "wait", "wait for a person: to be let in, for an approval") { $0.waits = true },
      Option(nil, "abort", "stop what the agent is doing in the conversation") {
        $0.modes.append(.abort)
      },
      Option(nil, "again", "say it even if the agent just had the same words") {
        $0.isAgain = true
      }.rare,
      Option(nil, "agents", "list the agents") { $0.modes.append(.agents) },
      Option(nil, "attach", "FILE", "send FILE with the message; repeatable", .path) {
        $0.files.append($1)
      },
      Option(
        nil, "busy", "MODE", "at work: steer, followup, collect or interrupt",
        .choice(of: ChatManner.Busy.self)
      ) { $0.manner.busy = $1 }.rare,
      Option(nil, "history", "print what was said, oldest first") { $0.modes.append(.history) },
      Option(nil, "key", "KEY", "the key of the message, for a second try", .key) {
        $0.key = $1
      }.rare,
      Option(nil, "model", "MODEL", "have this model answer in the conversation", .word) {
        $0.manner.model = $1
      }.rare,
      Option(nil, "new", "begin a new conversation") { $0.isNew = true },
      Option(nil, "queue", "keep it in the outbox if the agent cannot be told now") {
        $0.isQueued = true
      },
      Option(nil, "speak", "FILE", "write the answer as audio into FILE, too", .path) {
        $0.speech = $1
      }.rare,
      Option(nil, "thinking", "LEVEL", "have it think so much in the conversation", .word) {
        $0.manner.thinking = $1
      }.rare,
      Option(nil, "threads", "list the conversations") { $0.modes.append(.threads) },
      Option(
        nil, "timeout", "SECONDS", "give up after this time without any of the answer", .seconds
      ) { $0.timeout = $1 }.rare,
      LookOptions.colour.at(\.look),
      Option.quiet("say nothing about the connection").at(\.isQuiet),
      Option.verbose("tell about the connection, and the key of the message").at(\.isVerbose),
    ] + ReconnectOptions.options.at(\.reconnect) + AccessOptions.options.at(\.access)
  ) { options, words throws(UsageError) in try options.finish(words) }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    mode = modes.first ?? .message
    if let other = modes.first(where: { $0 != mode }) {
      throw UsageError("--\(mode.rawValue) and --\(other.rawValue) exclude each other")
    }
    parts = ChatManner.Part.allCases.filter { words.names.contains($0.rawValue) }
    // A conversation takes those of the first kind, too.
    let ofTalk = mode == .interactive ? [] : ["again"] + ChatManner.Part.allCases.map(\.rawValue)
    let ofMessages = ofTalk + ["attach", "key", "speak", "queue"]
    if mode != .message, let name = words.names.first(where: ofMessages.contains) {
      throw UsageError("--\(name) is for a message, not for --\(mode.rawValue)")
    }
    if isNew, thread != nil { throw UsageError("--new and --thread exclude each other") }
    if isQueued {
      // An outbox keeps words and their thread.
      let others =
        ["agent", "again", "attach", "key", "speak", "wait"]
        + ChatManner.Part.allCases.map(\.rawValue)
      if let name = words.names.first(where: { others.contains($0) }) {
        throw UsageError("--\(name) and --queue exclude each other")
      }
    }
    if mode != .history, words.names.contains("count") {
      throw UsageError("--count is for --history")
    }
    if mode == .agents || mode == .threads,
      let name = words.names.first(where: { ["agent", "thread"].contains($0) })
    {
      throw UsageError("--\(name) is not for --\(mode.rawValue), which lists all")
    }
    if mode == .interactive, form == .json {
      throw UsageError("--interactive is for a person: no --output json")
    }
    if mode == .interactive, reconnect.maxTime != nil {
      throw UsageError("--interactive ends by Ctrl-D, not by --max-time")
    }
    try receive(words.paths)
    if access.tokenFile == "-", mode == .message, self.words == nil {
      throw UsageError("standard input cannot be the token and the message")
    }
    if speech?.isEmpty == true { throw UsageError("--speak: no file is named") }
  }

  private mutating func receive(_ operands: [String]) throws(UsageError) {
    guard mode == .message || mode == .interactive else {
      if let word = operands.first {
        throw UsageError("--\(mode.rawValue) takes no message: \(FileName.shown(word))")
      }
      return
    }
    if operands.isEmpty || operands == ["-"] {
      if mode == .interactive, !operands.isEmpty {
        throw UsageError("--interactive reads the terminal, not -")
      }
      isStandardInputNamed = !operands.isEmpty
      return
    }
    // What was said must be what was written.
    if operands.contains(where: { FileName.repaired($0) != $0 }) {
      throw UsageError("the message is not UTF-8")
    }
    words = operands.joined(separator: " ")
    if words?.isEmpty == true { throw UsageError("the message is empty") }
  }

  /// Whether `-` was given, which may be a terminal, too.
  private(set) var isStandardInputNamed = false

  var wishes: ChatWishes {
    var wishes = ChatWishes()
    wishes.isTalk = mode.isTalk
    wishes.waits = waits
    wishes.patience = timeout ?? (mode.isTalk ? nil : reconnect.maxTime)
    wishes.policy = policy
    return wishes
  }

  /// A conversation waits for its agent, and so does who is to be let in; a question does not.
  var policy: StreamPolicy {
    var policy = reconnect.policy(usualSilence: nil)
    if policy.maxRetries == nil, mode != .interactive, !waits {
      // What can be kept need not be waited for.
      policy.maxRetries = isQueued ? 0 : Self.usualRetries
    }
    return policy
  }
}

extension Reading<String> {
  fileprivate static var key: Reading {
    Reading("not 1 to 200 characters of ASCII without blanks") { text in
      let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
      return isPlain && (1...200).contains(text.utf8.count) ? text : nil
    }
  }
}
