import CLibc
import Core
import Shell

protocol Handover: AnyObject {
  var name: String { get }

  /// Looks whether files can be taken now, before the first one is opened.
  func begin() throws(HostFailure)

  /// Hands one file over.
  func hand(_ item: OpenItem, progress: @escaping (Int) -> Void) throws(HostFailure) -> Receipt

  /// How many small files, of how many bytes together, go at once; 1 for one at a time.
  var batch: (count: Int, size: Int) { get }

  /// Hands small files over at once. Returns one for each; nil where each is to be handed over
  /// alone.
  func hand(_ items: [OpenItem]) throws(HostFailure) -> [Receipt]?
}

extension Handover {
  var batch: (count: Int, size: Int) { (1, 0) }

  func hand(_ items: [OpenItem]) throws(HostFailure) -> [Receipt]? { nil }
}

struct Receipt: Equatable {
  var session: String?
  var remotePath: String?
  /// One of this name with other content had been taken before; this one was not.
  var isOther = false
}

extension HostFailure {
  var stopsDrain: Bool {
    switch self {
    case .unfit, .noInbox, .refused, .duplicate, .noFolder, .noHarness, .endedAtOnce,
      .noWorktree:
      false
    default: true
    }
  }

  /// What is wrong with a file, with tmux or with the session may be right the next time.
  var drainStatus: Int32 {
    switch self {
    case .noSession, .stateUnknown, .noAgentPane, .noTmux: ExitStatus.temporary.rawValue
    default: stopsDrain ? exitStatus : ExitStatus.temporary.rawValue
    }
  }
}

/// Files go to a command of the user's, one at a time, on its standard input. It has
/// taken a file when it ends with 0; killed in between, it is given it again.
final class CommandHandover: Handover {
  private let command: String

  init(_ command: String) { self.command = command }

  let name = "--exec"

  func begin() throws(HostFailure) {
    if let signal = EndSignals.next() { throw .interrupted(signal: signal) }
  }

  func hand(_ item: OpenItem, progress: @escaping (Int) -> Void) throws(HostFailure) -> Receipt {
    try begin()
    guard let file = item.reopened() else { throw .unfit(why: "changed just now") }
    defer { close(file) }
    let child = try Failure.rethrowing(
      try ChildProcess(
        ["sh", "-c", command],
        environment: ["INBOX_ID": item.item.name.id, "INBOX_NAME": item.item.name.text],
        input: .given(file), output: .ours, error: .ours)
    ) { HostFailure.local(why: $0.message) }
    let signal = Self.wait(for: child)
    guard child.exitStatus == 0 else {
      if let signal { throw .interrupted(signal: signal) }
      let how = child.endSignal.map { "ended by signal \($0)" }
      throw .unfit(why: how ?? "ended with status \(child.exitStatus ?? 0)")
    }
    // This file has been taken; whoever asks next finds the signal.
    if let signal { raise(signal) }
    progress(item.size)
    return Receipt()
  }

  /// Waits for its end, and hands on a signal that comes meanwhile.
  private static func wait(for child: ChildProcess) -> Int32? {
    var signal: Int32?
    var milliseconds: Int32 = 1
    while !child.reap() {
      // Its end makes no descriptor readable.
      var entry = pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&entry, 1, milliseconds)
      milliseconds = min(milliseconds * 2, 50)
      guard let number = EndSignals.next() else { continue }
      signal = number
      child.kill(number)
    }
    return signal
  }
}

final class HostHandover: Handover {
  private let options: InboxOptions
  let name: String
  private let session: String
  private let calls: HostCalls
  private let tmux: RemoteTmux
  private var folder: String?
  private var canBatch = true

  /// Of one call: more gain little, and take the longer to be said to have gone.
  private static let batchCount = 32
  private static let batchSize = 1 << 20

  init(_ options: InboxOptions, name: String, session: String, _ calls: HostCalls, label: String) {
    (self.options, self.name, self.session, self.calls) = (options, name, session, calls)
    tmux = RemoteTmux(calls, label: label)
  }

  func begin() throws(HostFailure) {
    folder = try asking(try tmux.inbox(for: session))
  }

  private func inbox() throws(HostFailure) -> String {
    if folder == nil { try begin() }
    return folder ?? ""
  }

  func hand(_ item: OpenItem, progress: @escaping (Int) -> Void) throws(HostFailure) -> Receipt {
    let folder = try inbox()
    let (path, typing) = typing(item, folder)
    let outcome = try asking(
      try tmux.deliver(
        typing, (item.descriptor, item.size), as: item.item.name.text, in: folder,
        progress: progress))
    return Receipt(session: session, remotePath: path, isOther: outcome == .other)
  }

  var batch: (count: Int, size: Int) {
    canBatch && !options.pressesReturn ? (Self.batchCount, Self.batchSize) : (1, 0)
  }

  func hand(_ items: [OpenItem]) throws(HostFailure) -> [Receipt]? {
    let folder = try inbox()
    var files: [(name: String, content: [UInt8], modified: Int64, typing: Typing)] = []
    var receipts: [Receipt] = []
    for item in items {
      let (path, typing) = typing(item, folder)
      canBatch = typing.fitsBatch
      guard canBatch, let content = item.content() else { return nil }
      let name = item.item.name
      files.append((name.text, content, name.epoch, typing))
      receipts.append(Receipt(session: session, remotePath: path))
    }
    do throws(HostFailure) {
      try asking(try tmux.deliver(files, in: folder))
    } catch {
      // Its host may have no tar; or whatever it is, it is found out one at a time.
      if !error.stopsDrain { canBatch = false }
      throw error
    }
    return receipts
  }

  private func typing(_ item: OpenItem, _ folder: String) -> (path: String, Typing) {
    let name = item.item.name
    let path = Folders.join(folder, name.text)
    let text = PathText.text(options.format, path: path)
    var typing = Typing(
      session: session, text: TypedText(untrimmed: FileName.bytes(text)), mark: Self.mark(name),
      returnAfter: options.pressesReturn ? 0.3 : nil,
      idleWait: options.waitsForIdle ? options.maxWait : nil)
    typing.isCommand = options.isCommand
    let ending = name.text.split(separator: ".").last?.lowercased() ?? ""
    // Among other words it is a word.
    typing.isPicture = Self.pictures.contains(ending) && text.trimmed == path
    return (path, typing)
  }

  /// The endings of what an agent looks at.
  private static let pictures: Set<String> = ["png", "jpg", "jpeg", "gif", "webp"]

  var isOpen: Bool { calls.isOpen }

  /// Keeps the link for so long, or until one of these is readable; a link that is
  /// lost is made again when it is needed. A signal ends the process.
  func idle(until: Double, also descriptors: [Int32]) {
    do throws(HostFailure) {
      try calls.idle(until: until, also: descriptors)
    } catch {
      close()
      if case .interrupted(let signal) = error { Process.die(by: signal) }
    }
  }

  func close() {
    calls.close()
    folder = nil
  }

  /// What marks an item on the tmux server: all of its name, which begins with the id.
  static func mark(_ name: ItemName) -> String {
    String(name.text.map { $0 == "-" || $0 == "." ? "_" : $0 })
  }

  /// A link that brought no answer is given up.
  private func asking<Answer>(
    _ question: @autoclosure () throws(HostFailure) -> Answer
  ) throws(HostFailure) -> Answer {
    do throws(HostFailure) {
      return try question()
    } catch {
      switch error {
      case .noSession, .noTmux, .busy, .asks, .stateUnknown, .noAgentPane: break
      default: if error.stopsDrain { close() }
      }
      throw error
    }
  }
}

enum PathText {
  static let usual = "{path} "

  /// Bytes of a text that every host takes, whatever is in it.
  private static let longest = 1024

  /// Reads `--format`.
  @Sendable static func checked(_ argument: OptionArgument) throws(UsageError) -> String {
    let text = argument.value
    guard text.holds("{path}") else { throw argument.fault("{path} is missing") }
    guard text.utf8.count <= longest else {
      throw UsageError("--format: longer than \(longest) bytes")
    }
    guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw UsageError("--format: control characters, which would be keys") }
    return text
  }

  /// The text for a file.
  static func text(_ format: String, path: String) -> String {
    format.exchanging(text: "{path}", for: word(path))
  }

  /// A path as one word for a shell and for an agent: what either would split or
  /// expand has a backslash, as terminals write a file that is dropped on them.
  static func word(_ path: String) -> String {
    var text = ""
    for scalar in path.unicodeScalars {
      let isPlain =
        UInt8(exactly: scalar.value)?.isAlphanumeric ?? true
        || "/._-+:,@%=".unicodeScalars.contains(scalar)
      if scalar.isASCII && !isPlain { text += "\\" }
      text.unicodeScalars.append(scalar)
    }
    return text
  }
}
