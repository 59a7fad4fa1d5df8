import Core
import Turns

/// The text of one run, by the one rule that serves protocols 3 and 4
/// (Agent/OpenClaw/CONTRACT.md 7): a message is the whole text, so is what replaces, and all
/// else is appended. After its end a run says nothing more.
struct ReplyText {
  /// How a run ended.
  enum End: Equatable {
    case final, aborted
    case failed(String)
  }

  /// What there is so far.
  private(set) var text = ""
  private var split = SplitText()
  /// Nil while it goes on.
  private(set) var end: End?
  /// Whether a hole may have swallowed a piece: what is appended to such a text is not to
  /// be trusted until something whole comes.
  private(set) var isTorn = false

  /// Whether there is more of it than the text, for all that is known.
  private var isShort = false

  /// The longest text that is put together, bytes; what would pass it leaves a hole.
  static let mostBytes = 64 << 20

  /// Takes a payload of the event `chat`.
  ///
  /// - Returns: whether text or end changed.
  mutating func take(_ chat: JSONValue) -> Bool {
    guard end == nil, let state = chat["state"]?.string else { return false }
    switch state {
    case "delta": return grow(chat)
    case "final":
      _ = grow(chat, isEnd: true)
      text += split.end()
      end = .final
    case "aborted":
      _ = grow(chat, isEnd: true)
      text += split.end()
      end = .aborted
    case "error": end = .failed(Self.reason(chat))
    default: return false
    }
    return true
  }

  /// Broadcasts were lost.
  mutating func tear() { if end == nil { (isTorn, isShort) = (true, true) } }

  /// Takes the text so far from the session's history, where the stream has left a hole.
  /// Nobody can say whether what streams next is in it already: the hole stays until the
  /// stream brings something whole, so that nothing is doubled and nothing left out.
  ///
  /// - Returns: whether the text changed.
  mutating func reseat(_ text: String) -> Bool {
    guard end == nil, !text.isEmpty, isTorn || self.text.isEmpty else { return false }
    isTorn = true
    if text.utf8.count >= self.text.utf8.count { isShort = false }
    // A text that streamed meanwhile is newer.
    if self.text.utf8.starts(with: text.utf8) { return false }
    self.text = text
    return true
  }

  /// Takes the whole text of a reply that ended with a hole in it.
  mutating func mend(_ text: String) {
    self.text = text
    (isTorn, isShort) = (false, false)
  }

  /// Ends with a text of the session's history.
  mutating func finish(_ text: String) {
    if end != nil { return }
    mend(text)
    end = .final
  }

  /// Ends with the text that is there, where nothing more is to be found.
  ///
  /// - Parameter isSilent: whether the run said nothing at its end, for all that is known.
  /// - Returns: false where some of the text is missing.
  mutating func conclude(isSilent: Bool) -> Bool {
    guard !isShort || isSilent else { return false }
    mend(text)
    end = end ?? .final
    return true
  }

  /// Ends because the run failed.
  mutating func fail(_ reason: String) { if end == nil { end = .failed(reason) } }

  private mutating func grow(_ chat: JSONValue, isEnd: Bool = false) -> Bool {
    if let message = chat["message"], !message.isNull {
      // Nothing but pictures or thoughts takes no words back, nor does an end without words.
      guard let whole = OpenClawMessage.text(of: message), !(isEnd && whole.isEmpty) else {
        return false
      }
      split.end()
      return become(whole)
    }
    guard let piece = chat["deltaText"]?.piece else { return false }
    if chat["replace"]?.bool == true {
      split.end()
      return become(split.next(piece))
    }
    if piece.isEmpty { return false }
    if isTorn {
      isShort = true
      return false
    }
    let delta = split.next(piece)
    if text.utf8.count + delta.utf8.count > Self.mostBytes {
      (isTorn, isShort) = (true, true)
      return false
    }
    text += delta
    return !delta.isEmpty
  }

  private mutating func become(_ whole: String) -> Bool {
    (isTorn, isShort) = (false, false)
    if whole == text { return false }
    text = whole
    return true
  }

  /// `rate_limit: too many requests`.
  private static func reason(_ chat: JSONValue) -> String {
    let words = [chat["errorKind"]?.string, chat["errorMessage"]?.string].compactMap(\.self)
    return words.isEmpty ? "the run failed" : words.joined(separator: ": ")
  }
}
