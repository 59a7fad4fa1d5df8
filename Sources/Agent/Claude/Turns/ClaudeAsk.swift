public import Core
public import Records

/// What Claude Code asks permission for, as its hook `PermissionRequest` is told (CONTRACT.md 10).
public enum ClaudeAsk {
  private static let (allow, always, deny) = ("allow", "always", "deny")
  private static let (question, plan) = ("AskUserQuestion", "ExitPlanMode")

  /// One that waits; nil for what is none.
  ///
  /// - Parameters:
  ///   - hook: the object that the hook was given.
  ///   - session: what the session tells of itself, empty for nothing.
  ///   - host: the machine, as it is called here.
  ///   - name: the session of tmux; nil for none.
  public static func requested(
    id: String, _ hook: [UInt8], session: [UInt8], host: String, name: String?,
    _ origin: RecordOrigin
  ) -> ApprovalRecord? {
    guard let request = JSONValue(hook), request.isObject, let tool = request["tool_name"]?.string
    else { return nil }
    let told = JSONValue(session)
    let title = told?["name"]?.string
    // Its own members keep their bytes.
    let members = hook.drop { $0 != UInt8(ascii: "{") }.dropFirst()
    let place = RecordText().string("host", host).string("session", name).string("title", title)
    let end = members.lastIndex(of: UInt8(ascii: "}")) ?? members.endIndex
    let isQuestion = tool == question
    var approval = ApprovalRecord(
      origin, id: id, tool: isQuestion ? AskedQuestion.tool : tool,
      request: place.members(Array(members[..<end])).bytes,
      decisions: decisions(request, isQuestion: isQuestion), state: .pending,
      time: told?["statusUpdatedAt"]?.instant)
    approval.thread = request["session_id"]?.string
    approval.summary =
      isQuestion
      ? AskedQuestion.all(in: request).map(\.line).joined(separator: "; ")
      : request["tool_input"]?[either: "description", "file_path", "url", "query"]?.string
    return approval
  }

  private static func decisions(_ request: JSONValue, isQuestion: Bool) -> [String] {
    if isQuestion {
      let questions = AskedQuestion.all(in: request)
      return (questions.count == 1 ? questions[0].choices.map(\.label) : []) + [deny]
    }
    let count = request["permission_suggestions"]?.count ?? 0
    return [allow] + (count == 1 ? [always] : (0..<count).map { "\(always)-\($0 + 1)" }) + [deny]
  }

  /// What `always` allows from then on, in words: `always`, or `always-1` and so on, and the rule
  /// itself.
  public static func suggestions(_ request: JSONValue) -> [(decision: String, words: String)] {
    let list = request["permission_suggestions"]?.elements ?? []
    return list.enumerated().map {
      (list.count == 1 ? always : "\(always)-\($0.offset + 1)", words($0.element))
    }
  }

  private static func words(_ suggestion: JSONValue) -> String {
    // What is not wholly understood is shown as it is.
    let what: String?
    let own: Set<String>
    switch suggestion["type"]?.string {
    case "addRules":
      own = ["rules", "behavior"]
      let list = suggestion["rules"]?.elements ?? []
      let rules = list.compactMap { rule -> String? in
        let content = rule["ruleContent"]
        let isKnown = Set(rule.members.map(\.name)).isSubset(of: ["toolName", "ruleContent"])
        guard isKnown, let tool = rule["toolName"]?.string, content == nil || content?.string != nil
        else { return nil }
        return tool + (content?.string.map { "(\($0))" } ?? "")
      }
      what =
        rules.isEmpty || rules.count < list.count
        ? nil : suggestion["behavior"]?.string.map { "\($0) \(rules.joined(separator: ", "))" }
    case "setMode":
      own = ["mode"]
      what = suggestion["mode"]?.string.map { "switch to the mode \($0)" }
    case "addDirectories":
      own = ["directories"]
      let list = suggestion["directories"]?.elements ?? []
      let folders = list.compactMap(\.string)
      what =
        folders.isEmpty || folders.count < list.count
        ? nil : "work in \(folders.joined(separator: ", "))"
    default: (own, what) = ([], nil)
    }
    let names = Set(suggestion.members.map(\.name))
    guard let what, let place = suggestion["destination"]?.string,
      names.isSubset(of: own.union(["type", "destination"]))
    else { return suggestion.compact() }
    let places = [
      "session": "in this session", "localSettings": "in this project, for you",
      "projectSettings": "in this project, for everybody", "userSettings": "everywhere",
    ]
    return "\(what), \(places[place] ?? place)"
  }

  /// Claude Code's word for a decision; to a question all but one are answers, as they are chosen.
  public static func word(_ decision: ApprovalDecision, to request: [UInt8]) -> String {
    let questions = AskedQuestion.all(in: JSONValue(request))
    if !questions.isEmpty, !denies(decision),
      let words = try? AskedQuestion.answers(decision, to: questions)
    {
      return AskedQuestion.line(words)
    }
    if denies(decision) { return deny }
    return ["approve", "approved", "yes"].contains(decision.decision) ? allow : decision.decision
  }

  private static func denies(_ decision: ApprovalDecision) -> Bool {
    decision.answers.isEmpty
      && [deny, "reject", "rejected", "denied", "no"].contains(decision.decision)
  }

  /// What the hook is to print.
  ///
  /// - Parameter request: as of the record.
  /// - Throws: a `Failure` that says what may be answered.
  public static func output(
    _ decision: ApprovalDecision, to request: [UInt8]
  ) throws(Failure) -> [UInt8] {
    guard let value = JSONValue(request) else { throw Failure("its request cannot be read") }
    let words = RecordText()
    if denies(decision) {
      return output(words.string("behavior", deny).string("message", decision.reason))
    }
    let tool = value["tool_name"]?.string
    if tool == question {
      if decision.input != nil { throw Failure("a question takes no other input") }
      let questions = AskedQuestion.all(in: value)
      let answers = try AskedQuestion.answers(decision, to: questions)
      // By their own words, which are no names of ours.
      let chosen = zip(questions, answers).reduce(RecordText()) {
        let answer = JSONQuote.string($1.1.joined(separator: ", "))
        return $0.members(Array("\(JSONQuote.string($1.0.text)):\(answer)".utf8))
      }
      let input = RecordText().members(members("tool_input", of: request))
        .object("answers", chosen)
      return output(words.string("behavior", allow).object("updatedInput", input))
    }
    guard decision.answers.isEmpty else { throw Failure("it is no question") }
    let word = word(decision, to: request)
    let offers = suggestions(value)
    guard word == allow || offers.contains(where: { $0.decision == word }) else {
      let known = [allow] + offers.map(\.decision) + [deny]
      throw Failure("the agent takes: \(known.joined(separator: ", "))")
    }
    var answer = words.string("behavior", allow)
    if let input = decision.input {
      answer = answer.json("updatedInput", bytes: input)
    } else if tool == plan {
      answer = answer.object("updatedInput", RecordText())
    }
    if let number = offers.firstIndex(where: { $0.decision == word }),
      let rule = element(number, of: request)
    {
      answer = answer.list("updatedPermissions", [rule])
    }
    return output(answer)
  }

  private static func output(_ decision: RecordText) -> [UInt8] {
    let inner = RecordText().string("hookEventName", "PermissionRequest")
      .object("decision", decision)
    return RecordText().object("hookSpecificOutput", inner).bytes
  }

  /// The members of an object of the request, with their bytes.
  private static func members(_ name: String, of request: [UInt8]) -> [UInt8] {
    let value = ScanMembers.copy(of: name, in: request) ?? []
    return value.first == UInt8(ascii: "{") ? Array(value.dropFirst().dropLast()) : []
  }

  private static func element(_ number: Int, of request: [UInt8]) -> [UInt8]? {
    ScanMembers.copy(of: "permission_suggestions", in: request)?.withUnsafeBytes { list in
      let elements = ScanValue(list).elements
      return elements.indices.contains(number) ? Array(elements[number].bytes) : nil
    }
  }
}
