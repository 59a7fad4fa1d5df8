import CLibc
public import Core
public import Records
import Turns
public import Web

/// What is said to an agent.
public struct ChatQuestion: Sendable {
  /// A file that goes with it.
  public struct Attachment: Sendable {
    /// Its name, without a folder.
    public var name: String
    /// `image/png`.
    public var mediaType: String
    /// Its content.
    public var bytes: [UInt8]

    public init(name: String, mediaType: String, bytes: [UInt8]) {
      (self.name, self.mediaType, self.bytes) = (name, mediaType, bytes)
    }

    /// `most`: the largest file that the server takes, `picture`: the largest picture; bytes.
    func problem(most: Int, picture: Int) -> Failure? {
      let limit = mediaType.hasPrefix("image/") ? picture : most
      if bytes.count <= limit { return nil }
      return Failure("\(name): \(bytes.count) bytes are too many: at most \(limit)", .failure)
    }
  }

  /// The conversation; nil for the main one.
  public var thread: String?
  /// The agent; nil for the usual one.
  public var agent: String?
  /// The words.
  public var text: String
  /// What goes with them.
  public var attachments: [Attachment] = []
  /// What a second try is known by, so that nothing is said twice; where the backend has
  /// such keys it becomes the id of the turn.
  public var key: String
  /// Whether it is said with a visible mark where the server drops the same words otherwise.
  public var isAgain = false
  /// Since when it may have been said before, under the same key; nil for never. Where keys are
  /// known it is looked for first.
  public var firstSaid: Timestamp?
  /// Whether the key may have been used before: it is looked for where messages are known by theirs.
  public var mayBeSaid = false
  /// Whether it begins a conversation of its own; `thread` is nil then.
  public var isNew = false
  /// How it is to be answered; only what the line takes (`ChatLine.takes`).
  public var manner = ChatManner()

  public init(thread: String?, agent: String?, text: String, key: String) {
    (self.thread, self.agent, self.text, self.key) = (thread, agent, text, key)
  }
}

/// How a question is to be answered; what is nil is left as it is.
public struct ChatManner: Equatable, Sendable {
  /// What a word on a command line may ask for, by the name of its option.
  public enum Part: String, CaseIterable, Sendable { case busy, model, new, thinking }

  /// What becomes of words that are said while the agent is at work, as OpenClaw calls it
  /// (Agent/OpenClaw/CONTRACT.md 6).
  public enum Busy: String, CaseIterable, Sendable { case steer, followup, collect, interrupt }

  /// What becomes of it while the agent is at work.
  public var busy: Busy?
  /// The model that answers, from now on in the conversation, as the server calls it.
  public var model: String?
  /// How much it thinks, from now on in the conversation, as the server calls it.
  public var thinking: String?

  /// As it is.
  public init() {}
}

/// What comes of a question, in order. Records come whole each time they change.
public enum ChatNews: Sendable {
  /// What the agent says, or thinks; and our own words, once they are known to have arrived.
  case message(MessageRecord)
  /// What the agent says to somebody else, as far as is known; it may be told again as ours.
  case ambient(MessageRecord)
  /// How far the agent is with it.
  case turn(TurnRecord)
  /// A tool that it uses.
  case toolCall(ToolCallRecord)
  /// What it waits for.
  case approval(ApprovalRecord)
  /// The conversation, where one was made for the question.
  case thread(ThreadRecord)
}

extension ChatNews {
  /// What a fold knows, as what comes of a question.
  init(_ entity: ConversationRecord) {
    switch entity {
    case .thread(let record): self = .thread(record)
    case .message(let record): self = .message(record)
    case .turn(let record): self = .turn(record)
    case .toolCall(let record): self = .toolCall(record)
    case .approval(let record): self = .approval(record)
    }
  }
}

/// How a question ended.
public enum ChatEnd: Equatable, Sendable {
  /// With an answer, which was told as a message in the state `final`; an agent may also
  /// choose to say nothing.
  case answered
  /// The turn failed; why, in a line.
  case failed(String)
  /// A person ended it; why, where that is known.
  case aborted(String?)
  /// It waits for a person; for what, in a line.
  case paused(String)
  /// What became of it cannot be found out now; in a line.
  case lost(String)
  /// It was never asked, or its answer is not for us any more; why.
  case refused(Failure)

  func hiding(_ hide: (String) -> String) -> ChatEnd {
    switch self {
    case .failed(let reason): .failed(hide(reason))
    case .aborted(let reason): .aborted(reason.map(hide))
    case .paused(let reason): .paused(hide(reason))
    case .lost(let reason): .lost(hide(reason))
    case .answered, .refused: self
    }
  }
}

/// The link to an agent, as a person wants to hear of it.
public enum LinkNews: Equatable, Sendable {
  /// It is open, behind `down` seconds without one if it had failed before.
  case open(place: String, isFirst: Bool, down: Double?)
  /// It is lost; the next try is in so many seconds.
  case lost(String, wait: Double)
  /// A person is to let this device in; the next try is in so many seconds.
  case waits(String, wait: Double)
  /// Something that a person should know, and that is no fault.
  case note(String)
  /// Something came that cannot be used.
  case fault(String)
  /// Nothing more comes, and why.
  case ended(Failure)
}

/// Waits while something is wanted of an agent, and is told how the link is.
open class LinkWaiter: Waiter {
  /// How the link is.
  open func link(_ news: LinkNews) {}
}

/// Waits while an agent is talked to, and is told what comes of it.
open class ChatWaiter: LinkWaiter {
  /// Whether the person has asked for the end of the question that is under way.
  public var isAborted = false
  /// Whether the line ends a question by itself then; else waiting is over.
  public var endsItself = false
  /// Whether texts of what was listed are not whole.
  public var isCut = false

  /// Something of the question that is under way.
  open func news(_ news: ChatNews) {}
  /// The words go out now; from here on they may arrive.
  ///
  /// - Returns: why they must not; nil when they may.
  open func sends() -> Failure? { nil }
}

/// What can be asked of an agent's conversations, beside a question.
public enum ChatList: Sendable {
  /// The agents behind a server, as it writes them.
  case agents
  /// The conversations, as records.
  case threads
  /// What was said in one, oldest first, as records.
  case history(thread: String?, agent: String?, count: Int)
  /// The turns that are under way in one, which end by this: as records.
  case ending(thread: String?, agent: String?)
}

/// A way to talk to an agent: one question at a time, and its answer, whatever becomes of the
/// connection in between.
public protocol ChatLine: AnyObject {
  /// The server's address, for messages.
  var place: String { get }
  /// Whether a question is known by its key, so that a second try with the same key says
  /// nothing twice.
  var knowsKeys: Bool { get }
  /// Whether the server drops the words that it had not long ago.
  var dropsRepeats: Bool { get }
  /// Whether it gives up a question of which nothing comes by itself, after
  /// `ChatWishes.patience`, and knows better than others what that means.
  var hasPatience: Bool { get }
  /// Why nothing can ever be asked, in a line; nil where it can.
  var silence: String? { get }
  /// Whether it tells that the server is there before words go out.
  var hasLink: Bool { get }
  /// What can be said of how a question is to be answered.
  var takes: Set<ChatManner.Part> { get }
  /// Asks, and waits for the end; what comes before it is told to the waiter.
  ///
  /// - Throws: `LinkEnd.over` when it is waited for no more.
  func ask(_ question: ChatQuestion, _ waiter: ChatWaiter) throws(LinkEnd) -> ChatEnd
  /// Fetches a list.
  ///
  /// - Returns: the lines, each a JSON object, or why there are none.
  /// - Throws: `LinkEnd.over` when it is waited for no more.
  func list(_ list: ChatList, _ waiter: ChatWaiter) throws(LinkEnd) -> Result<[[UInt8]], Failure>
  /// Has a text spoken.
  ///
  /// - Parameter agent: in whose voice; nil for the usual one.
  /// - Returns: the audio, as the server made it, or why there is none.
  /// - Throws: `LinkEnd.over` when it is waited for no more.
  func speak(
    _ text: String, agent: String?, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> Result<[UInt8], Failure>
  /// Keeps a link open while nothing is asked.
  ///
  /// - Throws: `LinkEnd.over` when waiting is over.
  func rest(_ waiter: ChatWaiter) throws(LinkEnd) -> Never
  /// Ends the line without a word.
  func stop()
}

extension ChatLine {
  public var knowsKeys: Bool { true }
  public var dropsRepeats: Bool { false }
  public var hasPatience: Bool { false }
  public var silence: String? { nil }
  public var hasLink: Bool { true }
  public var takes: Set<ChatManner.Part> { [] }

  public func speak(
    _ text: String, agent: String?, _ waiter: ChatWaiter
  ) throws(LinkEnd) -> Result<[UInt8], Failure> {
    .failure(Failure("this agent's server", "cannot speak", .failure))
  }

  /// There is none where each question is a request.
  public func rest(_ waiter: ChatWaiter) throws(LinkEnd) -> Never {
    while true { try waiter.wait(until: .infinity) }
  }

  /// Nothing is left of a request that is not waited for.
  public func stop() {}
}

/// A link that outlives what is asked on it: whoever asks waits, and hears how it is.
class ServedLink<Owner: LinkWaiter>: StreamLoop {
  final var waiter: Owner?
  private(set) final var closed: Failure?

  /// Does what is due; returns when it is due again at the latest, by `Clock.monotonic`.
  func look() throws(LinkEnd) -> Double { .infinity }

  final func serve(_ waiter: Owner, _ wire: () throws(LinkEnd) -> Never) {
    self.waiter = waiter
    defer { self.waiter = nil }
    follow { () throws(LinkEnd) in
      do throws(LinkEnd) { try wire() } catch {
        // Who has enough for now goes on with the connection the next time.
        if case .over = error { throw error }
        drop()
        throw error
      }
    }
  }

  func drop() {}

  final override var isOver: Bool { closed != nil || waiter?.isOver != false }
  final override var files: [pollfd] { waiter?.files ?? [] }
  final override func willWait() throws(LinkEnd) -> Double {
    min(try look(), try waiter?.willWait() ?? .infinity)
  }
  final override func hasWaited() throws(LinkEnd) { try waiter?.hasWaited() }

  override func opened(_ place: String, isFirst: Bool, down: Double?) {
    waiter?.link(.open(place: place, isFirst: isFirst, down: down))
  }
  override func lost(_ reason: String, wait: Double) {
    waiter?.link(.lost(reason, wait: wait))
  }
  override func waits(_ words: String, wait: Double) { waiter?.link(.waits(words, wait: wait)) }
  override func fault(_ reason: String, at place: String?) { waiter?.link(.fault(reason)) }
  override func ended(_ end: StreamEnd, at place: String) {
    closed = end.problem
    waiter?.link(.ended(end.problem))
  }
}

/// The final texts of the agent in a turn, in the order in which they began.
public struct FinalTexts: Sendable {
  private var ids: [String] = []
  private var texts: [String: String] = [:]

  /// None yet.
  public init() {}

  /// Takes what comes of a question.
  public mutating func receive(_ news: ChatNews) {
    guard case .message(let message) = news, message.role == .assistant else { return }
    guard message.state == .final else { return }
    if texts.updateValue(message.text, forKey: message.id) == nil { ids.append(message.id) }
  }

  /// A line feed between two.
  public var text: String { ids.compactMap { texts[$0] }.joined(separator: "\n") }
}
