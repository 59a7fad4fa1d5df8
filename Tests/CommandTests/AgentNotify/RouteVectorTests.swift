import Core
import Records
import Testing

@testable import agent_notify

/// The sample decisions of Tests/fixtures/joelclaw-routes.json.
struct RouteVector: CustomTestStringConvertible {
  let value: JSONValue

  var testDescription: String { value["name"]?.string ?? "?" }

  static let file: JSONValue? = {
    // Tests/CommandTests/AgentNotify/NAME is four levels below the folder that has Tests/.
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
    let path = root.joined(separator: "/") + "/Tests/fixtures/joelclaw-routes.json"
    guard let bytes = try? BoundedFile.given(path) else { return nil }
    return try? bytes.withUnsafeBytes { try JSONValue.parse($0) }
  }()
  static let all = (file?["vectors"]?.elements ?? []).map { RouteVector(value: $0) }

  /// What a record says, with the defaults of the members that may be missing.
  static func decision(_ record: JSONValue?) -> [String] {
    ["state", "urgency", "action", "rule", "error", "value"].map { record?[$0]?.text ?? "-" }
      + [record?["sound"]?.bool == true, record?["critical"]?.bool == true].map { "\($0)" }
      + [record?["haptic"]?.string ?? "none", record?["flush"]?.string ?? "null"]
      + (record?["mods"]?.elements ?? []).compactMap(\.string)
  }
}

@Test("the samples are there") func samples() { #expect(RouteVector.all.count == 9) }

@Test("a sample is decided as it should be", arguments: RouteVector.all)
func decision(_ vector: RouteVector) throws {
  var reader = NoticeReader(RouteOptions(), diagnostics: Diagnostics(program: "test"))
  let line = Array(try #require(vector.value["in"]).compact().utf8)
  let (routes, fault) = line.withUnsafeBytes { reader.read($0) }
  #expect(fault == nil)
  let record = try #require(routes.first).record
  let got = try record.withUnsafeBytes { try JSONValue.parse($0) }
  #expect(RouteVector.decision(got) == RouteVector.decision(vector.value["out"]))
}

@Test("the table is that of the samples") func table() throws {
  let table = try #require(RouteVector.file?["table"])
  for state in PersonState.allCases {
    for urgency in NotificationRecord.Urgency.allCases {
      let want = try #require(table[state.rawValue]?[urgency.rawValue])
      let cell = RouteTable.cell(state, urgency)
      #expect(cell.action.rawValue == want["action"]?.string)
      #expect(cell.hasSound == want["sound"]?.bool)
      #expect(cell.haptic.rawValue == want["haptic"]?.string)
      #expect(cell.isCritical == want["critical"]?.bool)
      #expect(cell.flush == want["flush"]?.string)
    }
  }
}

@Suite("limits") struct RouteLimits {
  static let noon = LocalTime(rfc3339: "2026-11-20T12:00:00Z")!

  private func state(
    now: LocalTime = noon, _ set: (inout RouteInput, inout PersonContext) -> Void
  ) throws -> Route {
    var input = RouteInput(urgency: "urgent", category: "x", now: now)
    var context = PersonContext()
    set(&input, &context)
    if input.context == nil, context != PersonContext() { input.context = context }
    return try #require(Route(input))
  }

  @Test("a report is true up to its limit, and in the future")
  func freshness() throws {
    for (age, wanted) in [(1800, PersonState.driving), (1801, .deskIdle), (-99, .driving)] {
      let route = try state {
        $1.focus = "driving"
        $1.reported = $0.now.instant.adding(.seconds(-age))
      }
      #expect(route.state == wanted)
      #expect(route.mods.contains("stale:driving") == (wanted == .deskIdle))
    }
    #expect(try state { $1.focus = "dnd" }.mods == ["stale:sleeping"])
  }

  @Test("who touched nothing for more than half an hour is idle")
  func idleness() throws {
    for (age, wanted) in [(1800, PersonState.desk), (1801, .deskIdle)] {
      let route = try state { input, _ in
        input.lastInteraction = input.now.instant.adding(.seconds(-age))
      }
      #expect(route.state == wanted)
    }
  }

  @Test("an override that changes nothing is not noted", arguments: ["info", "urgent"])
  func override(wanted: String) throws {
    let route = try state { input, _ in input.preferences.overrides = ["x": wanted] }
    #expect(route.urgency.rawValue == wanted)
    #expect(route.mods == (wanted == "urgent" ? [] : ["override"]))
  }

  @Test("quiet hours begin with their start and end before their end")
  func quiet() throws {
    for (start, end, time, isQuiet) in [
      ("23:00", "07:00", "23:00", true), ("23:00", "07:00", "06:59", true),
      ("23:00", "07:00", "07:00", false), ("09:00", "12:00", "11:59", true),
      ("09:00", "12:00", "12:00", false), ("09:00", "09:00", "09:00", false),
    ] {
      let now = try #require(LocalTime(rfc3339: "2026-11-20T\(time):00-08:00"))
      let route = try state(now: now) { input, _ in
        input.preferences.quietHours = QuietHours(start: start, end: end)
      }
      #expect((route.state == .sleeping) == isQuiet)
    }
    #expect(QuietHours(start: "24:00", end: "07:00") == nil)
    #expect(QuietHours(start: "7:00", end: "08:00") == nil)
  }

  @Test("a telephone in use is not put to bed")
  func phone() throws {
    let route = try state { input, context in
      input.preferences.quietHours = QuietHours(start: "00:00", end: "23:59")
      (context.activeDevice, context.isPhoneForeground) = ("phone", true)
      context.reported = input.now.instant
    }
    #expect(route.state == .phone)
  }

  @Test("without a voice what would be spoken is kept")
  func voice() throws {
    let route = try state {
      ($1.focus, $1.hasVoice, $1.reported) = ("driving", false, $0.now.instant)
    }
    #expect(route.cell.action == .hold)
    #expect(route.cell.flush == "drive-end")
    #expect(route.rule == "driving/urgent")
  }

  @Test(
    "an override to a word that nobody knows counts for nothing, and so do mutes of emergencies")
  func preferences() throws {
    #expect(try state { input, _ in input.preferences.overrides = ["x": "loud"] }.mods == [])
    let route = try state { input, _ in
      input.urgency = "emergency"
      input.preferences.muted = ["x"]
    }
    #expect(route.cell.action == .push)
    #expect(route.mods == [])
  }
}
