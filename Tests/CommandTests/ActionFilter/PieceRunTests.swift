import CLibc
import Core
import Testing

@testable import action_filter

/// What threads make of a file is what one of them makes of it.
@Suite struct PieceRunTests {
  /// What a run wrote, said and ended with.
  struct Outcome: Equatable {
    let output: String
    let messages: String
    let status: Core.ExitStatus
    let rejects: String
  }

  static func options(_ words: [String]) -> FilterOptions? {
    try? FilterOptions.table.parse(words, FilterOptions(now: Timestamp(seconds: 0)))
  }

  func run(_ words: [String], _ files: [String], jobs: Int, size: Int) throws -> Outcome {
    let (output, messages, rejects) = (Scrap(), Scrap(), Scrap())
    let words = ["-j", "\(jobs)"] + words.map { $0 == "REJECTS" ? rejects.path : $0 } + files
    var run = FilterRun(
      try #require(Self.options(words)), Diagnostics(program: "x", descriptor: messages.file),
      to: output.file, pieceSize: size
    ) { Self.options(words) }
    let status = try run.run()
    return Outcome(
      output: text(output), messages: text(messages), status: status, rejects: text(rejects))
  }

  func text(_ scrap: Scrap) -> String { String(decoding: scrap.bytes, as: UTF8.self) }

  static let lines = [
    #"{"id":1,"created_at":"2026-01-01T10:00:00.000Z","kind":"a","user_id":"7","usd_cost":0.1}"#,
    #"{"event":"action_event","data":{"createdAt":"2026-01-01T10:00:00.000Z","#
      + #""kind":"a","userId":"7","usdCost":0.1}}"#,
    #"{"id":2,"created_at":"2026-01-01T11:00:00.000Z","kind":"b","content":"xyz","usd_cost":2}"#,
    "", "word", #"{"kind":"a"} {"kind":"b"}"#, #"{"kind":"c","metadata":{"model":"m"}}"# + "\r",
    #"{"event":"activity_snapshot","data":{"actions":[{"kind":"b","id":9},{"kind":"a","id":8}]}}"#,
    #"{"profile":"p","event":"activity_snapshot","data":"#
      + #"{"actions":[{"kind":"b","id":5},7,{"kind":"a","id":4}]}}"#,
    #"{"actions":[1,{"kind":"a"},{"kind" 1},{"kind":"b"}]}"#,
    #"{"type":"connection","state":"open"}"#,
    "{\"kind\":\"a\",\"content\":\"x\u{0}y\"}", "  ", "[", #"{"kind":"a","usd_cost":1e-30}"#,
    #"{"kind":"long","content":""# + String(repeating: "long ", count: 60) + #""}"#,
    #"{"id":1,"created_at":"2026-01-01T10:00:00.000Z","kind":"a","user_id":"7","usd_cost":0.1}"#,
  ]

  /// All lines, in several orders; without a LF at its end.
  static let body: [UInt8] = {
    var text = "\u{feff}"
    for round in 0..<4 {
      for index in lines.indices { text += lines[(index * 7 + round) % lines.count] + "\n" }
    }
    return Array((text + lines[0]).utf8)
  }()

  static let questions = [
    [], ["-k", "a"], ["-v", "-k", "a"], ["-u"], ["-u", "-a"], ["-u", "-n", "3"], ["-a"],
    ["-a", "-n", "4"], ["-N"], ["-q"], ["-q", "-k", "none"], ["-o", "kind,id,/model"],
    ["-o", "canonical", "-a"], ["-n", "0"], ["-n", "1"], ["-n", "9"], ["-n", "20", "-N"],
    ["--by", "kind"], ["--by", "hour,kind", "--total"], ["--total"], ["--usage", "--by", "user"],
    ["--by", "kind", "-n", "11"], ["--by", "kind", "-u"], ["--strict"], ["-R", "REJECTS"],
    ["-R", "REJECTS", "-n", "7", "-k", "b"], ["--strict", "-R", "REJECTS", "-u"],
    ["--fast", "-k", "long"], ["--fast", "-k", "long,a", "-n", "5"], ["--profile", "p"],
    ["--profile", "p", "-v"], ["-F", "xyz"], ["-i", "-E", "LONG.long"],
    ["-S", "2026-01-01T10:30:00Z"],
    ["-U", "7"], ["-U", "noor"], ["--where", "/model=m"], ["-x", "0.15"],
  ]

  @Test(arguments: questions)
  func isTheSame(question: [String]) throws {
    let scrap = Scrap(Self.body)
    let small = Scrap(Array("{\"kind\":\"a\"}\nbad\n".utf8))
    let files = [small.path, scrap.path, small.path, scrap.path, "/tmp/none/there"]
    let alone = try run(question, files, jobs: 1, size: 64)
    let endsBefore = question.contains("-q") || question.contains("-n")
    #expect(alone.messages.contains("/tmp/none/there: ") || endsBefore)
    for (jobs, size) in [(2, 1), (2, 17), (2, 256), (3, 64), (7, 5), (7, 300), (3, 2000)] {
      let several = try run(question, files, jobs: jobs, size: size)
      #expect(several == alone, "\(jobs) threads, pieces of \(size)")
    }
  }

  /// Where the pieces end is another place each time.
  @Test func isTheSameHoweverItIsParted() throws {
    let scrap = Scrap(Self.body)
    let alone = try run([], [scrap.path], jobs: 1, size: 64)
    for size in 1...700 {
      #expect(try run([], [scrap.path], jobs: 3, size: size) == alone, "pieces of \(size)")
    }
  }

  @Test func isWrittenNowhereElse() throws {
    let scrap = Scrap(Self.body)
    var run = FilterRun(
      try #require(Self.options(["-j", "2", scrap.path])),
      Diagnostics(program: "x", descriptor: scrap.file), to: scrap.file, pieceSize: 10
    ) { Self.options([]) }
    lseek(scrap.file, 0, SEEK_END)
    #expect(try run.run() == .failure)
    let message = "x: \(scrap.path): is read and written at once\n"
    #expect(scrap.bytes == Self.body + Array(message.utf8))
  }

  @Test func aFullDiskEndsAllThreads() throws {
    let full = clibc_open("/dev/full", O_WRONLY)
    guard full >= 0 else { return }
    defer { close(full) }
    let (scrap, messages) = (Scrap((0..<500).flatMap { _ in Self.body }), Scrap())
    var run = FilterRun(
      try #require(Self.options(["-j", "3", "-k", "a", scrap.path])),
      Diagnostics(program: "x", descriptor: messages.file), to: full, pieceSize: 1000
    ) { Self.options(["-k", "a"]) }
    #expect(throws: WriteFailure(code: ENOSPC)) { try run.run() }
  }
}
