import CLibc
import Core
import Records
import Turns
import Web

/// A line to a session of Claude Code: what is said is typed at its prompt when it is idle, and what
/// comes of it stands in its transcript (CONTRACT.md 1 to 9). It is typed once, whatever happens.
final class ClaudeChat: ChatLine {
  let place: String
  var knowsKeys: Bool { false }
  var hasLink: Bool { false }
  var takes: Set<ChatManner.Part> { [.new] }
  private let host: HostPlace
  private let wishes: ChatWishes
  private let origin = RecordOrigin(.claude)

  /// How long a session may take to begin, and how long to be idle, seconds.
  private static let (starting, patience) = (30.0, 600.0)
  /// How long words may take to be typed that an agent is idle for, seconds.
  private static let typing = 1.0

  init(_ host: HostPlace, _ wishes: ChatWishes) {
    (self.host, self.wishes) = (host, wishes)
    place = host.session.map { "\(host.host):\($0)" } ?? host.host
  }

  func ask(_ question: ChatQuestion, _ waiter: ChatWaiter) throws(LinkEnd) -> ChatEnd {
    if !question.attachments.isEmpty {
      return .refused(Failure("share-inbox hands files to an agent at a terminal", .failure))
    }
    if question.agent != nil {
      return .refused(Failure("an agent at a terminal has no name; -t names its session", .failure))
    }
    if "/!#".contains(question.text.first ?? " ") {
      return .refused(
        Failure("a command for Claude Code itself has no answer; agent-say types it", .failure))
    }
    do throws(LinkEnd) {
      let session =
        try question.isNew ? begin(waiter) : session(question.thread ?? host.session, waiter)
      guard session.state != "waiting" || wishes.waits else {
        return .paused(session.reason ?? "it asks something")
      }
      return try talk(question, session, waiter)
    } catch .failed(let failure, _) {
      return .refused(failure)
    }
  }

  private func talk(
    _ question: ChatQuestion, _ session: HostSession, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> ChatEnd {
    let tail = try HostProgram(["transcript-tail", "-q", "-L", "--new"] + host.transcripts)
    var reply = ClaudeReply(question.text, session.conversation)
    // What is not followed yet could be missed.
    while !reply.isOpen {
      if let line = tail.line() {
        reply.receive(line) { _ in }
      } else if tail.hasEnded {
        return .refused(tail.failure)
      } else {
        try waiter.wait(until: .infinity) { () throws(LinkEnd) in tail.files }
      }
    }
    if let withheld = waiter.sends() { return .refused(withheld) }
    let say = try HostProgram(
      [
        "tmux-attach", "-q", "-t", "-r", "--when-idle", "--max-wait",
        NumberText.of(wishes.patience ?? Self.patience),
      ] + session.target + [host.host], input: Array(question.text.utf8))
    let watch = try HostProgram(["tmux-attach", "-w", "-o", "json", host.host])
    // How it stands now, and for what and since when it was told that it waits.
    var (now, told) = (session, "")
    var interrupt: HostProgram?
    var abortLimit: Double?
    waiter.endsItself = true
    defer { waiter.endsItself = false }
    while true {
      if waiter.isAborted, interrupt == nil {
        // What was not typed yet never is; and its dialogs are not answered by the way.
        // It may be being typed just now, or stand there already.
        let limit = abortLimit ?? Clock.monotonic + Self.typing
        abortLimit = limit
        if !say.hasEnded { while let line = tail.line() { reply.receive(line) { _ in } } }
        guard now.state != "waiting", say.hasEnded || reply.hasBegun || Clock.monotonic < limit
        else { return .aborted(nil) }
        if say.hasEnded || reply.hasBegun { interrupt = try escape(session) }
      }
      interrupt?.write()
      say.write()
      if say.hasEnded, say.status != 0 {
        return say.status == 75 ? .lost(say.failure.message) : .refused(say.failure)
      }
      // What is said before that is somebody else's.
      while say.hasEnded, let line = tail.line() { reply.receive(line) { waiter.news($0) } }
      if let end = reply.end { return end }
      if say.hasEnded, tail.hasEnded { return .lost(tail.failure.message) }
      while let line = watch.line() {
        guard let change = HostSession.change(line), change.session.isSame(as: session) else {
          continue
        }
        if change.change == "dropped" { return .lost("the session has ended") }
        now = change.session
      }
      if say.hasEnded, now.conversation != session.conversation {
        return .lost("its agent has ended, or begun another conversation")
      }
      let stands = now.words + (now.since?.rfc3339 ?? "")
      if say.hasEnded, now.state == "waiting", stands != told {
        told = stands
        let reason = now.reason ?? "it asks something"
        if let record = reply.paused(reason) { waiter.news(.turn(record)) }
        if !wishes.waits { return .paused(reason) }
      }
      var files = watch.files + (interrupt?.files ?? [])
      if !say.hasEnded { files += say.files }
      if say.hasEnded || waiter.isAborted { files += tail.files }
      // Its output may end a moment before it does.
      let limit = interrupt == nil ? abortLimit ?? .infinity : .infinity
      let soon = !say.hasEnded && say.files.isEmpty ? Clock.monotonic + 0.02 : limit
      try waiter.wait(until: soon) { () throws(LinkEnd) in files }
    }
  }

  // MARK: - Sessions

  /// The session that is meant: by its name, its conversation, or the only one with an agent.
  private func session(_ name: String?, _ waiter: ChatWaiter) throws(LinkEnd) -> HostSession {
    // Those of the server that is meant come first; outside tmux nobody can type.
    let sessions = try sessions(waiter).filter { $0.elsewhere != "" }
    if let name {
      if let found = sessions.first(where: { $0.name == name || $0.conversation == name }) {
        return found
      }
      let hint = NearestWord.hint(for: name, among: sessions.map(\.name))
      throw .failed(Failure("no session \(name)\(hint)", .negative))
    }
    let agents = sessions.filter { $0.conversation != nil }
    if agents.count == 1 { return agents[0] }
    let names = agents.map(\.name).joined(separator: ", ")
    throw .failed(
      Failure(
        agents.isEmpty
          ? "no Claude Code runs there in tmux; --new begins one"
          : "several sessions: name one with -t: \(names)", .negative))
  }

  private func sessions(_ waiter: ChatWaiter) throws(LinkEnd) -> [HostSession] {
    let list = try HostProgram(["tmux-attach", "-l", "-o", "json", host.host])
    let lines = try list.lines(waiter)
    // 1: there are none.
    if list.status > 1 { throw .failed(list.failure) }
    return lines.compactMap(HostSession.init)
  }

  /// A new session, once its agent is at its prompt or asks whether it may begin.
  private func begin(_ waiter: ChatWaiter) throws(LinkEnd) -> HostSession {
    let new = try HostProgram(["tmux-attach", "-N", "-o", "json", host.host])
    let made = try new.lines(waiter).compactMap(HostSession.init).first
    guard new.status == 0, let made else { throw .failed(new.failure) }
    waiter.news(.thread(ThreadRecord(origin, id: made.name, time: .now())))
    let end = Clock.monotonic + Self.starting
    while Clock.monotonic < end {
      let now = try sessions(waiter).first { $0.isSame(as: made) }
      if let now, now.state == "idle" || now.state == "waiting" { return now }
      let next = Clock.monotonic + 0.3
      while Clock.monotonic < next { try waiter.wait(until: next) }
    }
    throw .failed(Failure("session \(made.name)", "its agent is not at its prompt", .temporary))
  }

  // MARK: - Lists

  func list(_ list: ChatList, _ waiter: ChatWaiter) throws(LinkEnd) -> Result<[[UInt8]], Failure> {
    do throws(LinkEnd) {
      switch list {
      case .agents: return .failure(Failure(place, "an agent at a terminal has no name"))
      case .threads: return .success(try sessions(waiter).map { thread($0).bytes })
      case .history(let name, _, let count):
        let session = try session(name ?? host.session, waiter)
        return .success(try history(session, waiter).suffix(count).map(\.bytes))
      case .ending(let name, _):
        let session = try session(name ?? host.session, waiter)
        guard session.state == "working" else { return .success([]) }
        let escape = try escape(session)
        _ = try escape.lines(waiter)
        if escape.status != 0 { throw .failed(escape.failure) }
        return .success([RecordText().string("id", session.name).bytes])
      }
    } catch .failed(let failure, _) {
      return .failure(failure)
    }
  }

  /// Presses Esc, which interrupts what it does.
  private func escape(_ session: HostSession) throws(LinkEnd) -> HostProgram {
    try HostProgram(
      ["tmux-attach", "-q", "-t", "--raw"] + session.target + [host.host], input: [0x1b])
  }

  private func thread(_ session: HostSession) -> ThreadRecord {
    var record = ThreadRecord(origin, id: session.name, time: nil)
    (record.title, record.last) = (session.words, session.since)
    return record
  }

  private func history(
    _ session: HostSession, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> [MessageRecord] {
    let path = try LinkEnd.ifFailed(host.transcript(of: session))
    let tail = try HostProgram(["transcript-tail", "-q", "--once", path])
    var (messages, order): ([String: MessageRecord], [String]) = ([:], [])
    var reply = ClaudeReply("", session.conversation)
    for line in try tail.lines(waiter) {
      reply.receive(line, any: true) { news in
        guard case .message(let message) = news, [.user, .assistant].contains(message.role) else {
          return
        }
        if messages.updateValue(message, forKey: message.id) == nil { order.append(message.id) }
      }
    }
    if tail.status != 0 { throw .failed(tail.failure) }
    return order.compactMap { messages[$0] }
  }
}

/// What comes of words that were typed at a prompt: the turn that begins with them, in the lines of
/// transcript-tail(1). No files, no clock.
struct ClaudeReply {
  private let words: String
  private let thread: String?
  /// Whether the transcripts are followed.
  private(set) var isOpen = false
  private(set) var end: ChatEnd?
  private var decoder = ClaudeTurns()
  private let fold = TurnFold()
  private var scan = RecordScan()
  /// The newest turn, and ours once the words were found in it.
  private var newest: TurnRecord?
  private var turn: TurnRecord?
  private var answer: MessageRecord?

  init(_ words: String, _ thread: String?) {
    (self.words, self.thread) = (Self.plain(words), thread)
  }

  /// Whether the agent has what was said.
  var hasBegun: Bool { turn != nil }

  /// The turn as it waits for a person.
  func paused(_ reason: String) -> TurnRecord? {
    guard var record = turn, !record.state.isEnd else { return nil }
    (record.state, record.reason) = (.paused, reason)
    return record
  }

  /// Reads a line.
  ///
  /// - Parameter any: whether what belongs to other turns is told, too.
  mutating func receive(_ line: [UInt8], any: Bool = false, _ tell: (ChatNews) -> Void) {
    var events: [TurnEvent] = []
    line.withUnsafeBytes { bytes in
      guard let line = try? TurnLine(bytes, &scan) else { return }
      if line.type == "open" { isOpen = true }
      _ = decoder.decode(line, into: &events)
    }
    for event in events where thread == nil || event.thread == thread {
      for record in fold.receive(event) {
        if any { tell(ChatNews(record)) } else { receive(record, tell) }
      }
    }
  }

  private mutating func receive(_ record: ConversationRecord, _ tell: (ChatNews) -> Void) {
    switch record {
    case .message(let message) where message.role == .user:
      guard turn == nil, let newest, message.turn == newest.id,
        Self.plain(message.text) == words
      else { return }
      turn = newest
      tell(.message(message))
      tell(.turn(newest))
    case .message(var message):
      guard let turn, message.turn == turn.id else { return }
      if message.role == .assistant {
        answer = message
        // Only the last text is the answer, and which is the last is known at the end.
        message.state = .partial
      }
      tell(.message(message))
    case .toolCall(let call):
      if let turn, call.turn == turn.id { tell(.toolCall(call)) }
    case .turn(let record):
      if record.parent == nil { newest = record }
      guard record.id == turn?.id else { return }
      turn = record
      if record.state == .completed, let answer { tell(.message(answer)) }
      tell(.turn(record))
      end = record.end(ofFailure: "no reason is told") ?? end
    case .thread, .approval: break
    }
  }

  /// What was typed may have come in several pieces, with blanks for tabs.
  private static func plain(_ text: String) -> String {
    text.split { $0.isWhitespace }.joined(separator: " ")
  }
}
