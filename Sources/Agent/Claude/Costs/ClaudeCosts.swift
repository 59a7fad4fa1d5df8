import CLibc
import Core
import Records

/// The paid answers in transcripts of Claude Code, each once, as actions of the kind `llm_call`
/// (CONTRACT.md 7).
public struct ClaudeCosts {
  private struct Answer {
    var usage: ClaudeUsage
    var time: Timestamp?
    /// The earliest file that has it, and the last one that was seen to have it.
    var source: Int32
    var lastSource: Int32
    /// Of whom; nil for a subagent of which the file knows more.
    var subagent: String?
    let id: String
    /// Only told by the one who waited for it.
    var isProgress: Bool
  }

  /// A file, or a session of a stream.
  private struct Source {
    var path: String?
    var session: String
    /// Whose it is, where several are read.
    var profile = ""
    var isSubagent = false
    /// What files are ordered by: what comes first in it, and when it was made.
    var first: Timestamp?
    var born: Int64 = 0
    var project = ""
    var subagent = ""
    var answers: [Int32] = []
    /// What the program itself counted, as long as no answer followed.
    var counted: Double?
    var badLines = 0
    var hasGoodLines = false
  }

  private struct Title {
    var custom = ""
    var agent = ""
    var prompt = ""
    var text: String { custom.isEmpty ? agent.isEmpty ? prompt : agent : custom }
  }

  private enum Line: Int, ScanName {
    case type, message, timestamp, uuid, sessionId, cwd, isSidechain, attributionAgent, costUSD
    case isApiErrorMessage, isMeta, data, event, id, kind, leafUuid, profile
    case customTitle, agentName, totalCostUSD, hasUnknownModelCost
    static let table = NameTable<Line>()
  }

  private enum Kind: CaseIterable {
    case assistant, user, progress, customTitle, agentName, costState
    static let table = NameTable<Kind>([
      ("assistant", .assistant), ("user", .user), ("progress", .progress),
      ("custom-title", .customTitle), ("agent-name", .agentName), ("cost-state", .costState),
    ])
  }

  private enum Prompt: Int, ScanName {
    case content, type, text
    static let table = NameTable<Prompt>()
  }

  /// An id of fewer bytes is one of a provider that counts in each session by itself.
  private static let shortest = 12
  private static let titleLength = 60
  private static let mostNotes = 5

  private let prices: PriceList
  private var answers: [Answer] = []
  private var known: [ActionKey: Int32] = [:]
  private var sources: [Source] = []
  private var streamed: [String: Int] = [:]
  /// In a stream, whose lines these are, the subagent whose they are, and the kinds of those.
  private var profile = ""
  private var agent = ""
  private var agentKinds: [String: String] = [:]
  private var titles: [String: Title] = [:]
  /// What older versions say that an answer cost, by its number.
  private var toldCosts: [Int32: String] = [:]
  private var calls = ClaudeUsage.Calls()
  private var rates: [Int32: PriceList.Rate?] = [:]
  private var fields = ScanFields<Line>()
  private var inner = ScanFields<Line>()
  /// The file that is read; nil for a stream.
  private var current: Int?
  /// The sessions in which a short id occurs.
  private var shortIDs: [String: Set<String>] = [:]

  public init(_ prices: PriceList) { self.prices = prices }

  // MARK: - Files

  /// Begins a file: the lines that follow are its own.
  public mutating func open(_ path: String) {
    let isSubagent = ClaudeTranscripts.isOfSubagent(path)
    let parent = ClaudeTranscripts.sessionFile(ofSubagent: path)
    var source = Source(path: path, session: ClaudeTranscripts.session(of: parent ?? path))
    if isSubagent, parent == nil { source.session = "" }
    source.isSubagent = isSubagent
    source.born = clibc_born(path)
    if isSubagent { source.subagent = Self.told(beside: path) }
    current = sources.count
    sources.append(source)
  }

  /// Ends the file: what follows is of a stream.
  ///
  /// - Returns: whether it had lines, and none was JSON.
  public mutating func close() -> Bool {
    defer { current = nil }
    return current.map { sources[$0].badLines > 0 && !sources[$0].hasGoodLines } ?? false
  }

  /// What the file beside a subagent's says of its kind.
  private static func told(beside path: String) -> String {
    guard let name = ClaudeTranscripts.originFile(ofSubagent: path),
      let bytes = try? BoundedFile.given(name, limit: ClaudeTranscripts.originLimit)
    else { return "" }
    return bytes.withUnsafeBytes { kind(in: $0) }
  }

  private static func kind(in origin: UnsafeRawBufferPointer) -> String {
    ScanMembers.text(of: "agentType", in: origin) ?? ""
  }

  // MARK: - Lines

  /// Whether a line is one of a transcript, bare or as transcript-tail(1) writes it.
  public static func isLine(_ line: UnsafeRawBufferPointer) -> Bool {
    var fields = ScanFields<Line>(line)
    if fields[.event].isString, fields[.data].isObject {
      if isOrigin(fields) { return true }
      fields = ScanFields<Line>(fields[.data].bytes)
    }
    return isLine(fields)
  }

  private static func isOrigin(_ fields: ScanFields<Line>) -> Bool {
    fields[.event].string == ClaudeTranscripts.originEvent
  }

  private static func isLine(_ fields: ScanFields<Line>) -> Bool {
    fields[.type].isString && fields[.kind].isAbsent
      && (fields[.sessionId].isString || fields[.leafUuid].isString || fields[.message].isObject)
  }

  /// Takes a line, bare or as transcript-tail(1) writes it.
  ///
  /// - Returns: false for what is no line of a transcript, or cannot be read.
  public mutating func receive(_ line: UnsafeRawBufferPointer) -> Bool {
    do throws(ScanFault) {
      try fields.read(line)
    } catch {
      if error == .empty { return true }
      // In between lines of a transcript, one that was cut, perhaps with the next one behind it.
      guard let source = current ?? sources.indices.last else { return false }
      let torn = TornLine(line)
      if torn?.fault != nil || torn == nil { sources[source].badLines += 1 }
      for record in torn?.records ?? [] { _ = receive(record) }
      return true
    }
    if let current { sources[current].hasGoodLines = true }
    var session = ""
    (profile, agent) = ("", "")
    if fields[.event].isString {
      guard fields[.data].isObject else { return false }
      profile = text(fields[.profile])
      // The file's, which for a session that was resumed is another one than that of its lines.
      session = fields[.id].string?.split(separator: "/").first.map(String.init) ?? ""
      if ClaudeTranscripts.isOfSubagent(session) {
        agent = "\(profile)\n\(session)"
        session = ""
        if Self.isOrigin(fields) {
          agentKinds[agent] = Self.kind(in: fields[.data].bytes)
          return true
        }
      }
      try? inner.read(fields[.data].bytes)
      swap(&fields, &inner)
    }
    guard Self.isLine(fields) || current != nil && fields[.kind].isAbsent else { return false }
    if fields[.sessionId].isString, session.isEmpty || current != nil {
      session = fields[.sessionId].string ?? ""
    }
    guard let kind = Kind.table.word(fields[.type]) else { return true }
    let source = source(of: session)
    if sources[source].first == nil { sources[source].first = time(fields[.timestamp]) }
    if sources[source].project.isEmpty, fields[.cwd].isString {
      sources[source].project = fields[.cwd].string ?? ""
    }
    switch kind {
    case .assistant: receiveAnswer(fields, session, source, isProgress: false)
    case .progress: receiveProgress(session, source)
    case .user: receivePrompt(source)
    case .customTitle:
      titles[sources[source].session, default: Title()].custom = text(fields[.customTitle])
    case .agentName:
      titles[sources[source].session, default: Title()].agent = text(fields[.agentName])
    case .costState:
      let isWhole = !fields[.hasUnknownModelCost].isTrue
      sources[source].counted = isWhole ? fields[.totalCostUSD].double : nil
    }
    return true
  }

  private mutating func source(of session: String) -> Int {
    if let current {
      if sources[current].session.isEmpty { sources[current].session = session }
      return current
    }
    let key = "\(profile)\n\(session)"
    if let known = streamed[key] { return known }
    streamed[key] = sources.count
    sources.append(Source(session: session, profile: profile))
    return sources.count - 1
  }

  private mutating func receiveProgress(_ session: String, _ source: Int) {
    guard fields[.data].isObject,
      let line = try? ScanMembers.value(of: "message", in: fields[.data].bytes), line.isObject
    else { return }
    try? inner.read(line.bytes)
    receiveAnswer(inner, session, source, isProgress: true)
  }

  private mutating func receiveAnswer(
    _ line: ScanFields<Line>, _ session: String, _ source: Int, isProgress: Bool
  ) {
    guard line[.message].isObject, !line[.isApiErrorMessage].isWord("true") else { return }
    let parts = ClaudeUsage.parts(line[.message])
    guard parts.usage.isObject, !parts.model.isText("<synthetic>")
    else { return }
    let usage = ClaudeUsage(parts.usage, model: parts.model, &calls)
    let time = time(line[.timestamp])
    if sources[source].first == nil { sources[source].first = time }
    let (key, id) = name(parts.id, line[.uuid], session, source)
    sources[source].counted = nil
    if let number = known[key].map(Int.init) {
      if answers[number].lastSource != source {
        answers[number].lastSource = Int32(source)
        sources[source].answers.append(Int32(number))
      }
      if let time, answers[number].time.map({ time < $0 }) ?? true { answers[number].time = time }
      if answers[number].isProgress != isProgress {
        if isProgress { return }
        answers[number].isProgress = false
        set(number, usage, line)
        answers[number].source = Int32(source)
        answers[number].subagent = subagent(line, source, isProgress)
        return
      }
      let old = answers[number].usage.tokens
      if (usage.tokens.output, usage.tokens.sum) > (old.output, old.sum) {
        set(number, usage, line)
      }
      if isEarlier(source, than: Int(answers[number].source)) {
        answers[number].source = Int32(source)
        answers[number].subagent = subagent(line, source, isProgress)
      }
      return
    }
    known[key] = Int32(answers.count)
    sources[source].answers.append(Int32(answers.count))
    answers.append(
      Answer(
        usage: usage, time: time, source: Int32(source), lastSource: Int32(source),
        subagent: subagent(line, source, isProgress), id: id, isProgress: isProgress))
    set(answers.count - 1, usage, line)
  }

  private mutating func set(_ number: Int, _ usage: ClaudeUsage, _ line: ScanFields<Line>) {
    answers[number].usage = usage
    if line[.costUSD].isNumber { toldCosts[Int32(number)] = line[.costUSD].string }
  }

  /// Empty for the agent itself; nil for a subagent whose kind the line does not say.
  private func subagent(_ line: ScanFields<Line>, _ source: Int, _ isProgress: Bool) -> String? {
    guard isProgress || sources[source].isSubagent || line[.isSidechain].isWord("true") else {
      return ""
    }
    let name = text(line[.attributionAgent])
    return name.isEmpty ? agentKinds[agent].flatMap { $0.isEmpty ? nil : $0 } : name
  }

  /// What makes two lines one answer, and its id.
  private mutating func name(
    _ id: ScanValue, _ uuid: ScanValue, _ session: String, _ source: Int
  ) -> (ActionKey, String) {
    var name = text(id)
    if name.isEmpty {
      name = text(uuid)
      // Nothing tells it from others: it is one by itself.
      if name.isEmpty { name = "\(source)/\(answers.count)" }
      return (key("uuid " + name), name)
    }
    if name.hasPrefix("msg_"), name.utf8.count < Self.shortest {
      let session = session.isEmpty ? sources[source].session : session
      shortIDs[name, default: []].insert(session)
      name = session + "/" + name
    }
    return (key(name), name)
  }

  private func key(_ text: String) -> ActionKey {
    var text = text
    return text.withUTF8 { ActionKey(text: UnsafeRawBufferPointer($0)) }
  }

  private func isEarlier(_ one: Int, than other: Int) -> Bool {
    let (a, b) = (sources[one], sources[other])
    if a.first != b.first {
      guard let first = a.first else { return false }
      return b.first.map { first < $0 } ?? true
    }
    return a.born != b.born ? a.born < b.born : one < other
  }

  private mutating func receivePrompt(_ source: Int) {
    let session = sources[source].session
    guard !sources[source].isSubagent, titles[session]?.prompt.isEmpty ?? true,
      !fields[.isMeta].isWord("true"), !fields[.isSidechain].isWord("true"),
      fields[.message].isObject
    else { return }
    var content = ScanFields<Prompt>(fields[.message].bytes)[.content]
    if content.isArray {
      let blocks = content.elements.lazy.map { ScanFields<Prompt>($0.bytes) }
      content = blocks.first { $0[.type].isText("text") && !$0[.text].isAbsent }?[.text] ?? .absent
    }
    let lines = text(content).split { $0 == "\n" || $0 == "\r" }
    guard let first = lines.first, !first.hasPrefix("<"), !first.hasPrefix("[Request interrupted")
    else { return }
    titles[session, default: Title()].prompt =
      first.count > Self.titleLength ? first.prefix(Self.titleLength - 1) + "…" : String(first)
  }

  private func text(_ value: ScanValue) -> String { value.isString ? value.string ?? "" : "" }

  /// When, in any form: without a zone it is UTC, a number counts milliseconds or seconds.
  private func time(_ value: ScanValue) -> Timestamp? {
    guard let text = value.rawText else { return nil }
    if let time = Timestamp(rfc3339: text) { return time }
    if value.isString {
      if let time = Timestamp(rfc3339: String(decoding: text, as: UTF8.self) + "Z") { return time }
    }
    guard text.allSatisfy({ $0 &- 48 < 10 || $0 == 46 }), text.count > 8,
      let number = Double(String(decoding: text, as: UTF8.self)), number < 1e15
    else { return nil }
    let milliseconds = Int64(number >= 1e11 ? number : number * 1000)
    return Timestamp(
      seconds: milliseconds / 1000, nanoseconds: Int32(milliseconds % 1000) * 1_000_000)
  }

  // MARK: - What came of it

  /// Hands over an action for each answer, and for what other models did for one.
  public mutating func forEachAction<Fault: Error>(
    _ receive: (UnsafeRawBufferPointer) throws(Fault) -> Void
  ) throws(Fault) {
    var text = ByteBuffer()
    for number in answers.indices {
      let answer = answers[number]
      text.removeAll()
      write(
        answer, answer.usage.call, answer.usage.tokens, toldCost: toldCosts[Int32(number)],
        to: &text)
      try receive(text.bytes)
      for (index, advice) in answer.usage.advice.enumerated() {
        text.removeAll()
        write(answer, advice.call, advice.tokens, advice: index, to: &text)
        try receive(text.bytes)
      }
    }
  }

  private static let tokenNames = [
    "input_tokens", "output_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens",
    "cache_read_tokens",
  ]
  private static let dollarNames = [
    "input", "output", "cache_write_5m", "cache_write_1h", "cache_read", "web_search",
  ]

  private mutating func write(
    _ answer: Answer, _ call: Int32, _ tokens: TokenCounts, toldCost: String? = nil,
    advice: Int? = nil, to text: inout ByteBuffer
  ) {
    func add(_ part: StaticString) { text.append(part) }
    func add(_ name: StaticString, _ value: String) {
      if value.isEmpty { return }
      add(name)
      JSONQuote.append(value, to: &text)
    }
    let source = sources[Int(answer.source)]
    add(#"{"id":"#)
    JSONQuote.append(advice.map { "\(answer.id)/\($0 + 1)" } ?? answer.id, to: &text)
    if let time = answer.time { add(#","created_at":"#, time.rfc3339) }
    add(#","profile":"#, source.profile)
    add(#","kind":"llm_call","metadata":{"agent":"claude""#)
    add(#","model":"#, calls.all[Int(call)].model)
    add(#","sessionId":"#, source.session)
    add(#","title":"#, titles[source.session]?.text ?? "")
    add(#","project":"#, source.project)
    let kind = source.subagent.isEmpty ? "subagent" : source.subagent
    add(#","subagent":"#, answer.subagent ?? kind)
    add(#","usage":{"#)
    let counts = [tokens.input, tokens.output, tokens.write5m, tokens.write1h, tokens.read]
    for (index, name) in Self.tokenNames.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      JSONQuote.append(name, to: &text)
      text.append(UInt8(ascii: ":"))
      Dollars.append(UInt64(counts[index]), to: &text)
    }
    add(#","web_searches":"#)
    Dollars.append(UInt64(tokens.searches), to: &text)
    add("}")
    add(#","prices":"#, prices.date)
    guard let rate = rate(call) else {
      guard var told = toldCost, Double(told) ?? 0 > 0 else { return add(#","unpriced":true}}"#) }
      add(#"},"usd_cost":"#)
      told.withUTF8 { text.append(UnsafeRawBufferPointer($0)) }
      add("}")
      return
    }
    let dollars = Dollars(tokens, rate)
    add(#","usd":{"#)
    for (index, name) in Self.dollarNames.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      JSONQuote.append(name, to: &text)
      text.append(UInt8(ascii: ":"))
      Dollars.append(dollars.parts[index], to: &text)
    }
    add(#"}},"usd_cost":"#)
    Dollars.append(dollars.sum, to: &text)
    add("}")
  }

  private mutating func rate(_ call: Int32) -> PriceList.Rate? {
    if let rate = rates[call] { return rate }
    let rate = prices.rate(for: calls.all[Int(call)])
    rates[call] = .some(rate)
    return rate
  }

  // MARK: - Notes

  /// What is to be said of the sums, a line each: ids that may be of several answers, and where the
  /// program itself counted something else.
  ///
  /// - Parameter isWhole: whether every file was read.
  public mutating func notes(isWhole: Bool) -> [String] {
    var notes: [String] = []
    if let id = shortIDs.filter({ $1.count > 1 }).keys.min() {
      notes.append("\(id) is an answer in several sessions: such ids count in each by itself")
    }
    let differing = isWhole ? differences() : []
    for line in differing.prefix(Self.mostNotes) { notes.append(line) }
    if differing.count > Self.mostNotes {
      notes.append("\(differing.count - Self.mostNotes) more sessions differ from what was counted")
    }
    return notes
  }

  /// The lines that could not be read, by file, or the session of a stream.
  public var badLines: [(path: String, count: Int)] {
    sources.filter { $0.badLines > 0 }.map { ($0.path ?? "session \($0.session)", $0.badLines) }
  }

  private mutating func differences() -> [String] {
    var lines: [String] = []
    for source in sources where !source.isSubagent {
      guard let counted = source.counted else { continue }
      var numbers = Set(source.answers)
      for other in sources where other.isSubagent && other.session == source.session {
        numbers.formUnion(other.answers)
      }
      var sum: UInt128 = 0
      var isWhole = true
      for number in numbers {
        let usage = answers[Int(number)].usage
        for (call, tokens) in [(usage.call, usage.tokens)] + usage.advice {
          if let rate = rate(call) { sum += Dollars(tokens, rate).sum } else { isWhole = false }
        }
      }
      let own = Dollars.number(sum)
      guard isWhole, abs(own - counted) > 0.01 * max(own, counted) else { continue }
      lines.append(
        "session \(source.session): Claude Code counted $\(Self.cents(counted)), its answers are "
          + "worth $\(Self.cents(own))")
    }
    return lines
  }

  private static func cents(_ amount: Double) -> String {
    let units = Int64(min(max(amount, 0), 1e12) * 10_000 + 0.5)
    let rest = String(units % 10_000 + 10_000).dropFirst()
    return "\(units / 10_000).\(rest.hasSuffix("00") ? rest.prefix(2) : rest)"
  }
}
