public import Core

/// One question to a person, of the `request` of an approval whose tool is `question`. The names
/// of its members are those of OpenClaw (Agent/OpenClaw/CONTRACT.md 8.3) and of Claude Code
/// (Agent/Claude/CONTRACT.md 10), which takes words of one's own to all of them.
public struct AskedQuestion: Equatable, Sendable {
  /// What may be chosen.
  public struct Choice: Equatable, Sendable {
    /// Its name, which is the answer.
    public let label: String
    /// What it means.
    public let description: String?
  }

  /// By which its answer is known.
  public let id: String
  /// A word or two about it.
  public let header: String?
  /// The words of the question.
  public let text: String
  /// What may be chosen.
  public let choices: [Choice]
  /// Whether more than one may be chosen.
  public let takesSeveral: Bool
  /// Whether words may be answered that are none of the choices.
  public let takesWords: Bool
  /// Whether the answer is one that nobody may see.
  public let isSecret: Bool

  /// The tool of an approval that is a question.
  public static let tool = "question"

  private init?(_ value: JSONValue, number: Int, isOpen: Bool) {
    guard let text = value["question"]?.string else { return nil }
    self.text = text
    id = value[either: "questionId", "id"]?.string ?? String(number)
    header = value["header"]?.string
    choices = (value["options"]?.elements ?? []).compactMap { option in
      option["label"]?.string.map {
        Choice(label: $0, description: option["description"]?.string)
      }
    }
    takesSeveral = value["multiSelect"]?.bool == true
    takesWords = isOpen || choices.isEmpty || value["isOther"]?.bool == true
    isSecret = value["isSecret"]?.bool == true
  }

  /// The questions of a request, in the order in which they are answered; none where it has none.
  public static func all(in request: JSONValue?) -> [AskedQuestion] {
    let inner = request?["tool_name"]?.string == "AskUserQuestion" ? request?["tool_input"] : nil
    return ((inner ?? request)?["questions"]?.elements ?? []).enumerated().compactMap {
      AskedQuestion($0.element, number: $0.offset + 1, isOpen: inner != nil)
    }
  }

  /// What an answer chooses: the words of choices, or others where the question takes them.
  ///
  /// - Parameters:
  ///   - given: a choice by its name or number; of a question that takes several, some with
  ///   commas between them; else words of one's own.
  ///   - hasWords: whether those may be any.
  /// - Throws: a `Failure` that says what may be answered.
  public func answer(_ given: String, hasWords: Bool = true) throws(Failure) -> [String] {
    if isSecret { throw Failure("it asks for a secret, which is not to be given here") }
    if let choice = choice(given.trimmed) { return [choice] }
    let parts = takesSeveral ? given.utf8.split(separator: 0x2c).map { String($0) ?? "" } : [given]
    var answers: [String] = []
    for part in parts.map(\.trimmed) where !part.isEmpty {
      guard let words = choice(part) ?? numbered(part) ?? (hasWords ? own(part) : nil) else {
        let list = choices.enumerated().map { "\($0.offset + 1) \($0.element.label)" }
        throw Failure(Visible.line("\(part) is none of: \(list.joined(separator: ", "))"))
      }
      if !answers.contains(words) { answers.append(words) }
    }
    if answers.isEmpty { throw Failure("the answer is empty") }
    return answers
  }

  /// What is answered to all of them.
  ///
  /// - Throws: a `Failure` that says what may be answered.
  public static func answers(
    _ decision: ApprovalDecision, to questions: [AskedQuestion]
  ) throws(Failure) -> [[String]] {
    let given = decision.answers.isEmpty ? [decision.decision] : decision.answers
    guard given.count == questions.count else {
      let count =
        questions.count == 1
        ? "1 question wants 1 answer"
        : "\(questions.count) questions want \(questions.count) answers"
      throw Failure("\(count), not \(given.count)")
    }
    var answers: [[String]] = []
    for (question, text) in zip(questions, given) {
      answers.append(try question.answer(text, hasWords: !decision.answers.isEmpty))
    }
    return answers
  }

  /// The gateway knows no two whose names differ by nothing but capitals.
  private func choice(_ name: String) -> String? {
    choices.first { $0.label.trimmed.lowercased() == name.lowercased() }?.label
  }

  /// A number that no choice has is a slip, unless choices are numbers themselves.
  private func own(_ text: String) -> String? {
    let isSlip = Int(text) != nil && !choices.isEmpty && !choices.contains { Int($0.label) != nil }
    return takesWords && !isSlip ? text : nil
  }

  private func numbered(_ text: String) -> String? {
    guard let number = Int(text), number > 0, number <= choices.count else { return nil }
    return choices[number - 1].label
  }

  /// One line for people: `Which harbour? (North, South)`.
  public var line: String {
    choices.isEmpty ? text : "\(text) (\(choices.map(\.label).joined(separator: ", ")))"
  }

  /// Answers to all of the questions, as `decision` of a record writes them.
  ///
  /// - Parameter answers: those to each question.
  public static func line(_ answers: [[String]]) -> String {
    answers.map { $0.joined(separator: ", ") }.joined(separator: "; ")
  }
}
