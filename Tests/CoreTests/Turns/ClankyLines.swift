import Core
import Records
import Turns

/// Lines that are decoded, and what they tell, in a few words each.
struct Decoded {
  private var decoder = ClankyTurns()
  private var scan = RecordScan()
  private(set) var told: [String] = []

  /// Takes a line behind which nothing more is to be read for now.
  @discardableResult
  mutating func receive(_ line: String) -> Bool {
    let isOurs = read(line)
    var events: [TurnEvent] = []
    decoder.pause(into: &events)
    told += events.map(words(of:))
    return isOurs
  }

  /// Takes one of several lines.
  @discardableResult
  mutating func read(_ line: String) -> Bool {
    var events: [TurnEvent] = []
    let bytes = Array(line.utf8)
    let isOurs = bytes.withUnsafeBytes { bytes in
      guard let line = try? TurnLine(bytes, &scan) else { return false }
      return decoder.decode(line, into: &events)
    }
    told += events.map(words(of:))
    return isOurs
  }

  mutating func finish() {
    var events: [TurnEvent] = []
    decoder.finish(into: &events)
    told += events.map(words(of:))
  }
}

/// All that lines tell.
func tell(_ lines: [String]) -> [String] {
  var decoded = Decoded()
  for line in lines { decoded.read(line) }
  decoded.finish()
  return decoded.told
}

/// All that lines tell that come one by one.
func tellLive(_ lines: [String]) -> [String] {
  var decoded = Decoded()
  for line in lines { decoded.receive(line) }
  decoded.finish()
  return decoded.told
}

/// What was told last of each, by its type and id.
func last(of told: [String]) -> [String: String] {
  var last: [String: String] = [:]
  for line in told {
    let words = line.split(separator: " ", maxSplits: 2)
    last[words[0] + " " + words[1]] = String(words[2])
  }
  return last
}

/// `TYPE ID STATE (REASON) in TURN? ... from START`: the question mark says that the turn is
/// a guess.
private func words(of event: TurnEvent) -> String {
  func clock(_ time: Timestamp?) -> String? {
    time.map { "from " + $0.rfc3339.dropFirst(11).dropLast() }
  }
  func place(_ turn: String?, _ isInferred: Bool?) -> String? {
    turn.map { "in " + $0 + (isInferred == true ? "?" : "") }
  }
  let text: [String?]
  switch event.change {
  case .setTurn(let turn, _):
    let usage = turn.usage.map { "\($0.inputTokens ?? -1)+\($0.outputTokens ?? -1)" }
    let isPart = turn.parent != nil
    text = [
      "turn", turn.id, turn.state.rawValue, turn.reason.map { "(\($0))" },
      place(turn.parent, turn.isInferred), turn.message.map { "message \($0)" },
      isPart || turn.started == nil && turn.message == nil ? nil : usage,
      isPart || turn.started == nil && turn.message == nil ? nil : turn.cost.map { "$\($0)" },
      clock(turn.started),
    ]
  case .setToolCall(let call):
    text = [
      "call", call.id, call.tool, call.state.rawValue, call.reason.map { "(\($0))" },
      place(call.turn, call.isInferred), call.isTruncated == true ? "cut" : nil,
      call.stdout.map { "printed \($0)" },
      call.milliseconds == nil ? clock(call.started) : nil,
    ]
  case .setMessage(let message, _):
    let head = [
      "message", message.id, message.state.rawValue, place(message.turn, message.isInferred),
    ]
    text = [head.compactMap { $0 }.joined(separator: " ") + ": " + message.text]
  case .setThread(let thread): text = ["thread", thread.id, thread.state?.rawValue]
  default: text = ["something else"]
  }
  return ([event.origin.profile] + text).compactMap { $0 }.joined(separator: " ")
}

/// A row of a dashboard at a time of day.
func row(
  _ id: Int, _ time: String, _ kind: String, channel: String = "c", user: String = "bot",
  message: String? = nil, content: String = "said", cost: Double = 0, _ metadata: String
) -> String {
  let message = message.map { "\"\($0)\"" } ?? "null"
  return
    #"{"id":\#(id),"created_at":"2026-03-01T\#(time)Z","guild_id":"g","channel_id":"\#(channel)","#
    + #""message_id":\#(message),"user_id":"\#(user)","kind":"\#(kind)","content":"\#(content)","#
    + #""metadata":\#(metadata),"usd_cost":\#(cost)}"#
}

/// A call of a model: 10 tokens in, 2 out, 10 cents.
func llm(
  _ id: Int, _ time: String, source: String = "message_event", names: String? = nil,
  more: String = "", channel: String = "c", user: String = "bot"
) -> String {
  let stop = names.map { #","stopReason":"tool_use","toolNames":"\#($0)""# } ?? ""
  return row(
    id, time, "llm_call", channel: channel, user: user, content: "p:m", cost: 0.1,
    #"{"source":"\#(source)","usage":{"inputTokens":10,"outputTokens":2}\#(stop)\#(more)}"#)
}

/// A call of a model in a loop over tools.
func llmTool(_ id: Int, _ time: String, call: String) -> String {
  row(
    id, time, "llm_tool_call", content: "p:m", cost: 0.1,
    #"{"source":"reply_tool_loop","usage":{"inputTokens":10,"outputTokens":2},"toolCalls":[\#(call)]}"#
  )
}

/// A search, half a cent.
func search(_ id: Int, _ time: String, user: String = "bot") -> String {
  row(
    id, time, "search_call", user: user, content: "q", cost: 0.005,
    #"{"source":"reply_tool","query":"q","returnedResults":5,"latencyMs":200}"#)
}

/// An answer.
func reply(_ id: Int, _ time: String, trigger: String, took: Int?, more: String = "") -> String {
  let performance = took.map { #","performance":{"totalMs":\#($0)}"# } ?? ""
  return row(
    id, time, "sent_reply", message: "m\(id)",
    #"{"triggerMessageId":"\#(trigger)","source":"message_event"\#(performance)\#(more)}"#)
}
