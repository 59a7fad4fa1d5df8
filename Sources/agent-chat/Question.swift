import Agent
import CLibc
import Core

extension ChatOptions {
  func checkTerminals() throws(UsageError) {
    switch mode {
    case .message where words == nil && !isStandardInputNamed:
      if isatty(0) == 1 { throw UsageError("nothing to say: give words, or -i to talk") }
    case .interactive:
      if isatty(0) == 0 || isatty(1) == 0 { throw UsageError("--interactive needs a terminal") }
    default: break
    }
  }

  /// The whole message; reads standard input to its end.
  func question() throws(Failure) -> ChatQuestion {
    let text: String
    if let words { text = words } else { text = try Self.standardInput() }
    var question = question(text)
    for file in files { question.attachments.append(try AttachedFile.read(file)) }
    return question
  }

  func question(_ text: String) -> ChatQuestion {
    var question = ChatQuestion(
      thread: thread, agent: agent, text: text, key: key ?? RandomKey.make())
    (question.isAgain, question.mayBeSaid) = (isAgain, key != nil)
    (question.isNew, question.manner) = (isNew, manner)
    return question
  }

  private static func standardInput() throws(Failure) -> String {
    var bytes = try BoundedFile.text("-")
    // The line feed that ends a line of a shell is no part of what is said.
    if bytes.last == 10 { bytes.removeLast() }
    if bytes.last == 13 { bytes.removeLast() }
    if let place = bytes.withUnsafeBytes({ UTF8Text.firstFault($0) }) {
      throw Failure("standard input", "not UTF-8 at byte \(place + 1)")
    }
    if bytes.isEmpty { throw Failure("standard input", "the message is empty") }
    return String(decoding: bytes, as: UTF8.self)
  }
}

enum RandomKey {
  /// A random UUID (RFC 9562, section 5.4).
  static func make() -> String {
    var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      text += [byte].hex
    }
    return text
  }
}
