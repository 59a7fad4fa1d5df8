import Core
import Records
import TestSupport
import Testing

@testable import Archive
@testable import action_filter

/// What is told of a frame by what was noted of it is true of the lines in it.
@Suite struct FrameJudgeTests {
  /// Lines at random; those of one frame have few values, so that all of them may match.
  struct Lines {
    var random: SeededGenerator

    mutating func frame() -> [String] {
      let kinds = Array(
        Self.kinds.shuffled(using: &random).prefix(.random(in: 1...3, using: &random)))
      let ids = Array(Self.ids.shuffled(using: &random).prefix(.random(in: 1...2, using: &random)))
      let isClean = Bool.random(using: &random)
      return (0..<Int.random(in: 1...6, using: &random)).map { _ in
        if !isClean, Int.random(in: 0..<4, using: &random) == 0 {
          return Self.others.randomElement(using: &random) ?? ""
        }
        let action = action(kinds, ids)
        switch Int.random(in: 0..<(isClean ? 1 : 4), using: &random) {
        case 1: return #"{"profile":"home","event":"action_event","data":\#(action)}"#
        case 2: return #"{"actions":[\#(action),\#(self.action(kinds, ids))]}"#
        default: return action
        }
      }
    }

    private mutating func action(_ kinds: [String], _ ids: [String]) -> String {
      var members = [#""kind":\#(kinds.randomElement(using: &random) ?? "1")"#]
      for name in ["user_id", "guild_id", "channel_id"]
      where Int.random(in: 0..<8, using: &random) > 0 {
        members.append(#""\#(name)":\#(ids.randomElement(using: &random) ?? "null")"#)
      }
      if let time = Self.times.randomElement(using: &random) {
        members.append(#""created_at":\#(time)"#)
      }
      if Int.random(in: 0..<6, using: &random) == 0 {
        members.append(#""metadata":{"level":"error"}"#)
      }
      return "{" + members.shuffled(using: &random).joined(separator: ",") + "}"
    }

    static let kinds = [
      #""llm_call""#, #""llm_error""#, #""voice_turn_in""#, #""llm\u005fcall""#, #""käse""#, "7",
      "null",
    ]
    static let ids = [#""7""#, "7", #""user-77""#, #""\u0037""#, "null", "[7]", "7.0"]
    static let times = [
      #""2026-01-01T10:00:00.000Z""#, #""2026-01-01T11:30:00+01:30""#,
      #""2026-01-01T10:00:00.0005Z""#,
      #""2026-01-02T00:00:00Z""#, #""yesterday""#, "5", "null",
    ]
    static let others = [
      "word", "", #"{"type":"connection","state":"open"}"#, #"{"actions":[1,{"kind":"llm_call"}]}"#,
      #"{"event":"x","data":5}"#, #"{"stats":{},"runtime":{}}"#, #"{"kind":"llm_call"} 1"#,
    ]
  }

  static let questions = [
    [], ["-k", "llm_call"], ["-k", "llm_*"], ["-k", "*"], ["-d", "voice"], ["-d", "llm"],
    ["-d", "error"],
    ["-U", "7"], ["-g", "7", "-c", "7"], ["-U", "user-77", "-k", "llm_*"],
    ["-S", "2026-01-01T10:00:00.0001Z"],
    ["-B", "2026-01-01T10:00:00.0005Z"],
    ["-S", "2026-01-01T10:00:00Z", "-B", "2026-01-02T00:00:00.001Z"],
    ["-v", "-k", "llm_call"], ["-a"], ["--profile", "home"], ["-F", "x"], ["--strict"],
    ["-x", "0.1"],
    ["--fast", "-k", "llm_error"],
  ]

  /// How many actions are selected of these lines, and whether there is anything else to
  /// print or to say.
  func selected(_ lines: [String], _ options: FilterOptions) -> (actions: Int, hasMore: Bool) {
    var filter = LineFilter(options, to: RecordWriter(collecting: 4096), isPiece: true)
    var isGood = true
    for (index, text) in lines.enumerated() {
      Array(text.utf8).withUnsafeBytes { bytes in
        let line = RecordInput.Line(bytes, number: index + 1, isTerminated: true, isFirst: false)
        if (try? filter.handle(line)) != true { isGood = false }
      }
    }
    return (filter.output.count, !isGood || filter.output.others > 0)
  }

  @Test(arguments: questions)
  func isTrueOfTheLines(question: [String]) throws {
    let options = try #require(PieceRunTests.options(question))
    let judge = FrameJudge(options, [], isNameLost: false)
    let isFast = question.contains("--fast")
    var random = Lines(random: SeededGenerator(seed: 21))
    var seen: [FrameJudge.Verdict: Int] = [:]
    for _ in 0..<1000 {
      let lines = random.frame()
      let noter = FrameNoter()
      for (index, text) in lines.enumerated() {
        Array(text.utf8).withUnsafeBytes {
          noter.note(.init($0, number: index + 1, isTerminated: true, isFirst: false))
        }
      }
      var index = ByteBuffer()
      noter.finish().write(to: &index)
      let summary = try #require(
        FrameSummary(UnsafeRawBufferPointer(rebasing: index.bytes.dropLast())))
      let found = selected(lines, options)
      let verdict = judge.judge(summary)
      seen[verdict, default: 0] += 1
      switch verdict {
      case .none:
        #expect(found.actions == 0 && (isFast || !found.hasMore), "\(lines)")
      case .all: #expect(found.actions == summary.actions && !found.hasMore, "\(lines)")
      case .some: break
      }
    }
    // A judge that has everything read is right, and of no use.
    let isRead = question.contains("-v") || question.contains("--strict")
    #expect(isRead == (seen[FrameJudge.Verdict.none] == nil), "\(seen)")
    let tellsAll = [[], ["-k", "*"], ["-k", "llm_*"], ["-k", "llm_call"], ["-a"]].contains(question)
    #expect(!tellsAll || seen[.all] != nil, "\(seen)")
  }
}
