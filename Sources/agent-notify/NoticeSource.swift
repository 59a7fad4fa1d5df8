import Agent
import CLibc
import Core

final class NoticeSource {
  private var reader: LineReader
  /// Readable when there are lines, or no more.
  let descriptor: Int32
  private let children: [ChildProcess]
  /// Whose approvals it tells, from agent-approve(1); nil for another source.
  let profile: String?
  /// The machine whose sessions it tells; nil for another source.
  let host: String?
  private(set) var isEnded = false
  private var number = 0
  private var pump: NoticePump?
  private var confirmed = 0

  private init(
    _ children: [ChildProcess] = [], approvalsOf profile: String? = nil,
    sessionsOf host: String? = nil
  ) {
    (self.children, self.profile, self.host) = (children, profile, host)
    descriptor = children.last?.output ?? 0
    reader = LineReader(descriptor: descriptor, passesHoles: true)
  }

  /// Standard input; or `agent-tail -L -p NAMES | action-filter -a FILTERS`, which follow
  /// agents from now on, and `agent-approve -p NAME -w` for each that asks for approvals:
  /// a gateway tells them to nobody who may only read. Of an agent at a terminal it is
  /// `tmux-attach -w HOST`, which tells when it waits.
  static func all(
    following profiles: [String], filters: [String], maxTime: Double?
  ) throws -> [NoticeSource] {
    guard !profiles.isEmpty else { return [NoticeSource()] }
    let filter = try filter(filters)
    let limit = maxTime.map { ["--max-time", NumberText.of($0)] } ?? []
    let settings = try Settings()
    let hosts = profiles.compactMap { (try? settings.profile($0))?.host }
    let sessions = try Set(hosts.map { HostPlace($0).host }).sorted().map { host in
      NoticeSource([try start(["tmux-attach", "-w", "-o", "json", host])], sessionsOf: host)
    }
    let others = profiles.filter { (try? settings.profile($0))?.host == nil }
    let asking = profiles.filter { name in
      guard let profile = try? settings.profile(name) else { return false }
      return (try? profile.require(.approvals, for: "agent-notify")) != nil
    }
    let approvals = try asking.map { name in
      NoticeSource(
        [try start(["agent-approve", "-w", "-p", name] + limit)], approvalsOf: name)
    }
    if others.isEmpty { return sessions + approvals }
    let tail = try start(["agent-tail", "-L", "-p", others.joined(separator: ",")] + limit)
    var children = [tail]
    if let filter {
      children.append(try start(filter, input: .given(tail.output)))
      tail.closeEnds()
    }
    return [NoticeSource(children)] + sessions + approvals
  }

  /// The session that asks by an approval, as `host:session`, and whether it waits still; nil for
  /// one of a server.
  static func place(_ line: UnsafeRawBufferPointer) -> (name: String, isPending: Bool)? {
    guard let record = try? JSONValue.parse(line), let request = record["request"],
      request["tool_name"] != nil, let host = request["host"]?.string,
      let session = request["session"]?.string
    else { return nil }
    return ("\(host):\(session)", record["state"]?.string == "pending")
  }

  /// What comes on a bus from now on, shared with all machines that ask: each line comes to one,
  /// and again until it is acknowledged by `confirm`.
  static func bus(_ subjects: [String], filters: [String]) throws -> NoticeSource {
    let filter = try filter(filters)
    let words = ["bus-get", "--confirm", "-d", "agent-notify", "--"] + subjects
    let bus = try start(words, input: .pipe)
    guard let filter else { return NoticeSource([bus]) }
    let child = try start(filter, input: .pipe)
    let source = NoticeSource([bus, child])
    source.pump = NoticePump(from: bus, to: child)
    return source
  }

  /// What is to be waited for; nil when there is more to do soon.
  var descriptors: [Int32]? {
    guard let pump else { return [descriptor] }
    return pump.descriptor.map { $0 < 0 ? [descriptor] : [descriptor, $0] }
  }

  func confirm() {
    guard let input = children.first?.input, input >= 0 else { return }
    while confirmed < number {
      // Who does not read is about to end, and gives the line to somebody else.
      guard write(input, "0\n", 2) == 2 else { return }
      confirmed += 1
    }
  }

  private static func start(
    _ words: [String], input: ChildProcess.Stream = .nothing
  ) throws(Failure) -> ChildProcess {
    // What goes wrong there goes wrong here.
    let program = Diagnostics(program: "agent-notify").program
    return try ChildProcess(words, environment: ["AGENTUTILS_PROGRAM": program], input: input)
  }

  /// The filter's words, which has looked at its options before anybody is asked for anything.
  private static func filter(_ options: [String]) throws -> [String]? {
    if options.isEmpty { return nil }
    let words = ["action-filter", "-a"] + options
    let call = try ProgramCall(words)
    ProgramCall.wait(for: [call])
    // 1 is that nothing matched.
    if call.status > 1 { throw UsageError(call.faults.first ?? "") }
    return words
  }

  /// The next line that is there, and its number; nil when there is none for now, or no more.
  /// Returns whether there was one.
  func next(_ read: (UnsafeRawBufferPointer, Int) -> Void) throws -> Bool {
    let descriptor = descriptor
    pump?.turn()
    do {
      let line = try reader.next { if !isReadable(descriptor) { throw Enough() } }
      if number == 0, let reason = ForeignText.reason(of: reader.opening) {
        throw Failure("standard input", reason)
      }
      // A line of a bus that was cut short comes again.
      guard let line, line.terminated || children.first?.input ?? -1 < 0 else {
        isEnded = true
        return false
      }
      if let pump {
        if let count = pump.lines(before: line.bytes) {
          number = count
          return true
        }
        read(line.bytes, number + 1)
        return true
      }
      number += 1
      let hasMark = number == 1 && line.bytes.starts(with: [0xef, 0xbb, 0xbf])
      read(hasMark ? UnsafeRawBufferPointer(rebasing: line.bytes[3...]) : line.bytes, number)
      return true
    } catch is Enough {
      return false
    }
  }

  /// Ends the programs that were started.
  func end(isTimeUp: Bool = false) -> ExitStatus {
    guard let tail = children.first else { return .success }
    // What its reader saw the end of has ended, or is about to; and so is one of a bus, which
    // first takes what was acknowledged.
    let hasInput = tail.input >= 0
    for child in children { child.closeInput() }
    let endsItself = isEnded || isTimeUp && !hasInput
    if !endsItself, !hasInput { for child in children { child.kill(SIGTERM) } }
    let tries = endsItself ? 100 : hasInput ? 300 : 0
    for _ in 0..<tries where !tail.reap() { usleep(10_000) }
    if isTimeUp { for child in children { child.kill(SIGTERM) } }
    guard let status = tail.exitStatus else { return isEnded ? .temporary : .success }
    return ExitStatus(rawValue: status) ?? .failure
  }
}

/// Takes the lines of one program to another that filters them, with marks between: what mark came
/// out says how many lines went through.
final class NoticePump {
  private let source: ChildProcess
  private let filter: ChildProcess
  private var queue = ByteQueue()
  private var rest: [UInt8] = []
  private var count = 0
  private var hasEnded = false
  /// What a mark begins with; nobody else can write one.
  private let mark: [UInt8]

  init(from source: ChildProcess, to filter: ChildProcess) {
    (self.source, self.filter) = (source, filter)
    var generator = SystemRandomNumberGenerator()
    let secret = String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
    mark = Array("{\"type\":\"mark\",\"of\":\"\(secret)\",\"lines\":".utf8)
  }

  /// What is to be waited for; nil when the filter is behind, which is to be looked at soon.
  var descriptor: Int32? { hasEnded ? -1 : queue.isEmpty ? source.output : nil }

  /// How many lines had gone before this one; nil for what is no mark.
  func lines(before line: UnsafeRawBufferPointer) -> Int? {
    guard line.starts(with: mark) else { return nil }
    return Int(String(decoding: line.dropFirst(mark.count).dropLast(), as: UTF8.self))
  }

  func turn() {
    while !hasEnded {
      while !queue.isEmpty {
        let taken = write(filter.input, queue.bytes.baseAddress, queue.count)
        if taken < 0, systemError == EINTR { continue }
        if taken < 0, systemError == EAGAIN { return }
        if taken < 0 { return end() }
        queue.drop(taken)
      }
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let got = read(source.output, &bytes, bytes.count)
      if got < 0, systemError == EINTR { continue }
      if got < 0, systemError == EAGAIN { return }
      if got <= 0 { return end() }
      rest += bytes[..<got]
      guard let last = rest.lastIndex(of: 10) else { continue }
      let lines = rest[...last]
      count += lines.reduce(0) { $0 + ($1 == 10 ? 1 : 0) }
      queue.append(lines + mark + Array("\(count)}\n".utf8))
      rest.removeFirst(lines.count)
    }
  }

  private func end() {
    hasEnded = true
    filter.closeInput()
  }
}
