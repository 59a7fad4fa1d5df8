import Core
import Records
import Screen
import Turns

/// Reads lines, and routes what they tell.
struct NoticeReader {
  /// What a line tells: notifications with where they go, oldest first; and what is wrong with it.
  typealias Line = (routes: [RoutedNotice], fault: String?)

  private let options: RouteOptions
  private let context: ContextFile?
  private var sources: NoticeSources
  private var scan = RecordScan()

  /// - Parameter diagnostics: told of a file of `--context` that makes no sense.
  init(_ options: RouteOptions, diagnostics: Diagnostics) {
    self.options = options
    context = options.context.map { ContextFile($0, diagnostics) }
    sources = NoticeSources(options)
  }

  /// Reads a line; of one that was cut the whole records.
  mutating func read(_ bytes: UnsafeRawBufferPointer) -> Line {
    let line: TurnLine
    do throws(ScanFault) {
      line = try TurnLine(bytes, &scan)
    } catch {
      if error == .empty { return ([], nil) }
      guard let torn = TornLine(bytes) else { return ([], error.reason) }
      let lines = torn.records.map { read($0) }
      return (lines.flatMap(\.routes), torn.fault?.reason ?? lines.lazy.compactMap(\.fault).first)
    }
    do {
      return (try routes(of: line), nil)
    } catch let fault as RecordFields.Fault {
      return ([], fault.reason)
    } catch {
      return ([], (error as? Failure)?.reason ?? "\(error)")
    }
  }

  private mutating func routes(of line: TurnLine) throws -> [RoutedNotice] {
    let isOwn = line.shape == .own
    if isOwn, line.type == RecordType.route.rawValue {
      guard UTF8Text.isValid(line.bytes) else { throw Failure("not UTF-8") }
      let object = try JSONValue.parse(line.bytes)
      return [RoutedNotice(decided: object, line: Array(line.bytes))]
    }
    if isOwn && line.type == RecordType.notification.rawValue || line.shape == .unmarked {
      let object = try JSONValue.parse(line.bytes)
      // What is no record has to look like one of these.
      let isInput =
        object["urgency"] != nil || object["category"] != nil && object["kind"] == nil
      return isOwn || isInput ? [try route(object)] : []
    }
    return try sources.read(line).map { route($0) }
  }

  /// Where the person is now, as far as the options know.
  func state() -> PersonState {
    var mods: [String] = []
    return Route.state(input(Notice()), &mods)
  }

  /// Routes a notification by the options alone.
  func route(_ notice: Notice) -> RoutedNotice { RoutedNotice(notice, input(notice)) }

  private func input(_ notice: Notice) -> RouteInput {
    let report = context?.read()
    return RouteInput(
      urgency: notice.urgency, category: notice.category, now: LocalTime(.now()),
      lastInteraction: report?.lastInteraction, context: report?.context,
      preferences: options.preferences)
  }

  /// Routes a notification that may say itself what it is to be routed by.
  private func route(_ object: JSONValue) throws(Failure) -> RoutedNotice {
    let notice = Notice(object)
    var input = input(notice)
    if let now = object[either: "now"] {
      guard let time = now.string.flatMap({ LocalTime(rfc3339: $0) }) else {
        throw Failure("the member now is not a time of RFC 3339")
      }
      input.now = time
    }
    if let last = object["lastInteractionAt"] {
      input.lastInteraction = last.string.flatMap { Timestamp(rfc3339: $0) }
      if !last.isNull, input.lastInteraction == nil {
        throw Failure("the member lastInteractionAt is not a time of RFC 3339")
      }
    }
    // Null says that nothing is known, which is more than a missing member says.
    if let context = object["context"] {
      input.context = context.isObject ? PersonContext(context) : nil
    }
    if let preferences = object[either: "prefs"] { input.preferences = .init(preferences) }
    return RoutedNotice(notice, input)
  }
}

/// The file that says what a person's devices report. It is small, and read for each
/// notification: whatever writes it may replace it at any time.
final class ContextFile {
  private let file: StateFile
  private let diagnostics: Diagnostics
  private var lastFault: String?

  init(_ path: String, _ diagnostics: Diagnostics) {
    file = StateFile(path: path)
    self.diagnostics = diagnostics
  }

  /// What it says now; nil when it is missing or makes no sense, which is told once.
  func read() -> (context: PersonContext, lastInteraction: Timestamp?)? {
    do {
      guard let bytes = try file.read(limit: 1 << 16) else { return nil }
      let object = try JSONValue.parse(bytes)
      guard object.isObject else { throw Failure("not a JSON object") }
      lastFault = nil
      let last = object["lastInteractionAt"]?.time
      return (PersonContext(object), last)
    } catch {
      let message =
        (error as? any Reported)?.message
        ?? "\(FileName.shown(file.path)): \((error as? Failure)?.reason ?? "\(error)")"
      if message != lastFault { diagnostics.say(message) }
      lastFault = message
      return nil
    }
  }
}

struct NoticeSources {
  private var clanky: ClankyNotices
  private var decoders = TurnDecoders()
  private var events: [TurnEvent] = []
  /// The turns that wait, which are told of once each time that they do.
  private var waiting: Set<String> = []

  private static let mostWaiting = 4096

  init(_ options: RouteOptions) { clanky = ClankyNotices(others: options.actions) }

  mutating func read(_ line: TurnLine) throws(RecordFields.Fault) -> [Notice] {
    var found: [Notice] = []
    let isOfActions = clanky.read(line) { record, isPast in
      var notice = Notice(record)
      notice.isPast = isPast
      found.append(notice)
    }
    if isOfActions { return found }
    if line.shape == .own, let own = try own(line) { return own }
    events.removeAll(keepingCapacity: true)
    return decoders.decode(line, into: &events) ? events.compactMap { notice($0) } : []
  }

  private mutating func own(_ line: TurnLine) throws(RecordFields.Fault) -> [Notice]? {
    switch line.type {
    case "approval", "turn":
      do throws(RecordFields.Fault) {
        switch try ConversationRecord(reading: line.bytes) {
        case .approval(let approval): return [Self.notice(approval)].compactMap { $0 }
        case .turn(let turn): return [notice(turn)].compactMap { $0 }
        default: return nil
        }
      } catch {
        if error.isNews { return [] }
        throw error
      }
    case "gap", "end", "health", "session", "session_change", "task":
      return line.value.map { [Self.state($0, line.type)].compactMap { $0 } }
    default: return nil
    }
  }

  private mutating func notice(_ event: TurnEvent) -> Notice? {
    switch event.change {
    case .setApproval(let approval), .proposed(let approval): return Self.notice(approval)
    case .setTurn(let turn, _): return notice(turn)
    case .failed(let code, let reason):
      var turn = TurnRecord(
        event.origin, id: event.turn, thread: event.thread, state: .failed, time: event.time)
      turn.reason = [code, reason].filter { !$0.isEmpty }.joined(separator: ": ")
      return notice(turn)
    default: return nil
    }
  }

  /// An agent waits for a person: how it is told does not decide anything.
  private static func notice(_ approval: ApprovalRecord) -> Notice? {
    guard approval.state == .pending else { return nil }
    let asked = Asked(approval.request)
    let isQuestion = approval.tool == AskedQuestion.tool
    let record = NotificationRecord(
      approval.origin, id: "approval/\(approval.id)", urgency: .urgent, category: "approval",
      title: isQuestion ? "\(asked.agent ?? "agent") asks" : "\(approval.tool) waits",
      time: approval.time)
    var notice = notice(
      record, asked.text ?? approval.summary, about: approval.id, in: approval.thread)
    notice.place = asked.place ?? (isQuestion ? approval.thread : nil)
    return notice
  }

  private mutating func notice(_ turn: TurnRecord) -> Notice? {
    let id = "turn/\(turn.thread)/\(turn.id)"
    let key = [turn.origin.backend.rawValue, turn.origin.profile ?? "", id].joined(separator: "\0")
    // Where no reason is given, an approval says what it waits for.
    guard turn.state == .paused, turn.reason != nil else {
      waiting.remove(key)
      guard turn.state == .failed else { return nil }
      let record = NotificationRecord(
        turn.origin, id: id, urgency: .attention, category: "turn", title: "turn failed",
        time: turn.time)
      return Self.notice(record, turn.reason, about: turn.id, in: turn.thread)
    }
    if waiting.count >= Self.mostWaiting { waiting = [] }
    guard waiting.insert(key).inserted else { return nil }
    // It may wait more than once.
    let record = NotificationRecord(
      turn.origin, id: "\(id)/\(turn.time?.rfc3339 ?? "")", urgency: .urgent, category: "approval",
      title: "turn waits for a person", time: turn.time)
    return Self.notice(record, turn.reason, about: turn.id, type: "turn", in: turn.thread)
  }

  private static func notice(
    _ record: NotificationRecord, _ text: String?, about id: String, type: String? = nil,
    in thread: String?
  ) -> Notice {
    var record = record
    record.text = text
    record.about = .init(type: type ?? record.category, id: id)
    record.thread = thread
    return Notice(record)
  }

  private static func state(_ record: JSONValue, _ type: String) -> Notice? {
    var notice = Notice()
    notice.backend = record["backend"]?.string
    notice.profile = record["profile"]?.string
    notice.time = record["time"]?.time
    notice.category = "system"
    notice.urgency = NotificationRecord.Urgency.attention.rawValue
    notice.text = record["reason"]?.string
    switch type {
    case "gap": notice.title = "events were lost"
    case "end": notice.title = "the stream has ended"
    case "health":
      guard record["ok"]?.bool == false else { return nil }
      notice.urgency = NotificationRecord.Urgency.urgent.rawValue
      notice.title = "the agent is not well"
    case "task":
      guard record["state"]?.string == "failed", let id = record["id"]?.string else { return nil }
      notice.id = "task/\(id)/\(record["last"]?.string ?? record["time"]?.string ?? "")"
      notice.category = "task"
      notice.title = "failed: \(record["title"]?.string ?? id)"
      notice.text = record["notes"]?.string
      notice.about = .init(type: type, id: id)
    default:
      let hasFailed =
        record["state"]?.string == "idle" && record["reason"]?.string?.hasPrefix("failed") == true
      guard record["state"]?.string == "waiting" || hasFailed, let name = record["name"]?.string
      else { return nil }
      // Since when tells one time that it waits from the next.
      if let since = record["since"]?.string { notice.id = "session/\(name)/\(since)" }
      notice.category = "session"
      notice.title = "\(name) \(hasFailed ? "failed" : "waits")"
      let folder = record["directory"]?.string?.split(separator: "/").last.map(String.init)
      if folder != name { notice.place = folder }
      notice.about = .init(type: "session", id: name)
    }
    return notice
  }
}

/// What an approval asks for, of the backend's object: what would be done, and where. Words about
/// it, which a model may have written, are not looked at.
struct Asked {
  private let request: JSONValue?

  /// Where the arguments of a call stand: of OpenClaw and Codex, of a Claude hook, of ACP, of a
  /// Pincer server.
  private static let inner = [
    "tool_input", "toolInput", "rawInput", "input", "arguments", "args", "params", "preview",
  ]
  private static let (words, commands) = (
    ["commandArgv", "argv", "command"], ["command", "cmd", "script", "code"]
  )
  private static let places = ["cwd", "workdir", "directory"]

  /// - Parameter request: the member of the approval.
  init(_ request: [UInt8]) { self.request = try? JSONValue.parse(request) }

  /// The command; of a call without one its arguments; of questions all that may be chosen; nil
  /// where the request says neither.
  var text: String? {
    guard let request else { return nil }
    let questions = AskedQuestion.all(in: request)
    if !questions.isEmpty { return questions.map(Self.lines).joined(separator: "\n") }
    let arguments = Self.inner.compactMap { request[$0] }.first { $0.isObject && $0.count > 0 }
    for object in [arguments, request].compactMap(\.self) {
      let words = Self.words.compactMap { object[$0] }.first { $0.kind == .array && $0.count > 0 }
        .map { $0.elements.compactMap(\.string) }
      let text = Self.commands.compactMap { object[$0]?.string }.first { !$0.isEmpty }
      guard let words, !words.isEmpty else {
        if let text { return text }
        continue
      }
      let line = ShellText.line(words)
      // Where both are given and differ, which one counts is not said.
      guard let text, text != line, text != words.joined(separator: " ") else { return line }
      return "\(line)\n\(text)"
    }
    return arguments.map { Brief.text($0, limit: 4096) }
  }

  private static func lines(_ question: AskedQuestion) -> String {
    let choices = question.choices.enumerated().map { index, choice in
      "\(index + 1) \(choice.label)" + (choice.description.map { ": \($0)" } ?? "")
    }
    return ([question.text] + choices).joined(separator: "\n")
  }

  /// Who asks, where a person asks back by that name: an agent's id.
  var agent: String? { request?["agentId"]?.string }

  /// The last name of the folder it would be done in.
  var place: String? {
    let path = Self.places.compactMap { request?[$0]?.string }.first
    return path?.split(separator: "/").last.map(String.init)
  }
}
