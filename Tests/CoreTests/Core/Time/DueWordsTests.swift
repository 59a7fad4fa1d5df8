import Testing

@testable import Core

@Suite struct DueWordsTests {
  /// 2026-11-23 11:30 in Berlin, a Monday.
  static let now = "2026-11-23T10:30:00Z"

  private func read(
    _ text: String, _ zone: LocalZone = MomentTests.berlin, now: String = Self.now
  ) throws -> (Int, String)? {
    let now = try #require(Timestamp(rfc3339: now))
    let words = text.split(separator: " ").map(String.init)
    return try DueWords.read(words[...], now: now, zone: zone).map { ($0.count, $0.due.text) }
  }

  @Test(arguments: [
    ("today", "2026-11-23"), ("Tomorrow", "2026-11-24"), ("tomorrow,", "2026-11-24"),
    ("tomorrow 9:00", "2026-11-24T08:00:00.000Z"), ("today 17:00", "2026-11-23T16:00:00.000Z"),
    ("tomorrow at 9:00", "2026-11-24T08:00:00.000Z"), ("9am tomorrow", "2026-11-24T08:00:00.000Z"),
    ("9:00 on friday", "2026-11-27T08:00:00.000Z"), ("12am fri", "2026-11-26T23:00:00.000Z"),
    ("12:30pm fri", "2026-11-27T11:30:00.000Z"), ("today 08:00", "2026-11-23T07:00:00.000Z"),
    ("fri", "2026-11-27"), ("Friday 14:30", "2026-11-27T13:30:00.000Z"), ("mon", "2026-11-30"),
    ("sunday", "2026-11-29"), ("tue", "2026-11-24"), ("on tue", "2026-11-24"),
    ("by tuesday", "2026-11-24"), ("due tue", "2026-11-24"),
    ("next fri", "2026-12-04"), ("next mon", "2026-11-30"), ("next sun", "2026-12-06"),
    ("next week", "2026-11-30"), ("next month", "2026-12-01"),
    ("in 3 days", "2026-11-26"), ("in 3d", "2026-11-26"), ("in a week", "2026-11-30"),
    ("in 2 weeks 9:00", "2026-12-07T08:00:00.000Z"), ("in 3 months", "2027-02-23"),
    ("in 1 year", "2027-11-23"), ("in 2h", "2026-11-23T12:30:00.000Z"),
    ("in 90 minutes", "2026-11-23T12:00:00.000Z"), ("in an hour", "2026-11-23T11:30:00.000Z"),
    ("2026-12-01", "2026-12-01"), ("2026-12-1", "2026-12-01"), ("2020-02-29", "2020-02-29"),
    ("2026-12-01 09:00", "2026-12-01T08:00:00.000Z"),
    ("2026-12-01T09:00", "2026-12-01T08:00:00.000Z"),
    ("2026-12-01T09:00:00Z", "2026-12-01T09:00:00.000Z"),
    ("2026-12-01T09:00:00-05:00", "2026-12-01T14:00:00.000Z"),
    ("dec 1", "2026-12-01"), ("1 dec", "2026-12-01"), ("1st december", "2026-12-01"),
    ("nov 23", "2026-11-23"), ("nov 22", "2027-11-22"), ("may 5", "2027-05-05"),
    ("feb 29", "2028-02-29"), ("feb 29 2032", "2032-02-29"), ("1 dec 2030", "2030-12-01"),
    ("sept 2nd 2026 7:15", "2026-09-02T05:15:00.000Z"),
    ("14:30", "2026-11-23T13:30:00.000Z"), ("at 9:00", "2026-11-24T08:00:00.000Z"),
    ("11:30", "2026-11-24T10:30:00.000Z"), ("5pm", "2026-11-23T16:00:00.000Z"),
    ("14:30 dec 24", "2026-12-24T13:30:00.000Z"),
    ("tomorrow 4:30 pm", "2026-11-24T15:30:00.000Z"), ("9 am fri", "2026-11-27T08:00:00.000Z"),
    ("tomorrow at 9 p.m.", "2026-11-24T20:00:00.000Z"), ("5 pm", "2026-11-23T16:00:00.000Z"),
    ("tomorrow at 17", "2026-11-24T16:00:00.000Z"), ("fri 12 am", "2026-11-26T23:00:00.000Z"),
    ("2026-12-01 09:00 UTC", "2026-12-01T09:00:00.000Z"),
    ("2026-12-01 09:00Z", "2026-12-01T09:00:00.000Z"),
    ("2026-12-01T09:00Z", "2026-12-01T09:00:00.000Z"),
    ("2026-12-01T09:00 pm gmt", "2026-12-01T21:00:00.000Z"),
    ("9:00 utc", "2026-11-24T09:00:00.000Z"), ("11:00 z", "2026-11-23T11:00:00.000Z"),
  ])
  func reads(text: String, due: String) throws {
    let found = try #require(try read(text))
    #expect(found.1 == due)
    #expect(found.0 == text.split(separator: " ").count)
  }

  @Test(arguments: [
    ("friday the report", 1), ("tomorrow at work", 1), ("dec 1 2026 9:00 sharp", 4),
    ("9:00 tomorrow tomorrow", 2), ("in 3 days at", 3), ("dec 1 12 eggs", 2), ("mon 1:1", 1),
    ("tomorrow at 90 degrees", 1), ("fri 5 boxes", 1), ("9:00 amber", 1),
  ])
  func leaves(text: String, count: Int) throws { #expect(try read(text)?.0 == count) }

  @Test(arguments: [
    "", "on", "at", "in", "in 5 boxes", "next", "next steps", "may", "march on",
    "sa", "mondays", "12", "1/2", "1:1", "16:9", "dec", "dec 100", "every", "every one",
    "yesterday",
    "3pmx", "2026-12", "at home", "today!x", "in 2x", "٣ dec", "2h", "am", "pm", "t",
    "home-directory", "zero-defects", "long-lasting",
    "", "next week's", "ninth",
  ])
  func passes(text: String) throws { #expect(try read(text) == nil) }

  @Test(arguments: [
    ("31 feb", "no such date: 31 feb"), ("dec 32", "no such date: dec 32"),
    ("0 dec", "no such date: 0 dec"), ("feb 29 2027 x", "no such date: feb 29 2027"),
    ("2026-02-30", "no such date: 2026-02-30"), ("2026-13-01", "no such date: 2026-13-01"),
    ("2026-12-01T", "no such date: 2026-12-01t"),
    ("25:00", "no such time: 25:00"), ("tomorrow 9:60", "no such time: 9:60"),
    ("13pm", "no such time: 13pm"), ("0am", "no such time: 0am"), ("24:00", "no such time: 24:00"),
    ("in 12345 days", "no such date: in 12345 days"),
    ("in 9000 years", "no such date: in 9000 years"),
    ("tomorrow at 9", "in the morning or the evening: at 9"),
    ("fri at 5, x", "in the morning or the evening: at 5"),
    ("tomorrow 13 pm", "no such time: 13 pm"),
    ("every day", "a task is for one day: every day"),
    ("every 2 weeks fri", "a task is for one day: every 2 weeks"),
    ("every other day", "a task is for one day: every other day"),
    ("every monday 9:00", "a task is for one day: every monday 9:00"),
  ])
  func refuses(text: String, reason: String) throws {
    #expect(throws: Failure(reason)) { try read(text) }
  }

  /// The table of task(1).
  @Test(arguments: [
    ("the day after tomorrow", "2026-11-25"), ("a week from friday", "2026-12-04"),
    ("a week on friday", "2026-12-04"), ("friday week", "2026-12-04"),
    ("tomorrow week", "2026-12-01"), ("friday fortnight", "2026-12-11"),
    ("two weeks from tomorrow", "2026-12-08"),
    ("3 days from now", "2026-11-26"), ("2 hours from now", "2026-11-23T12:30:00.000Z"),
    ("two fridays from now", "2026-12-04"), ("the friday after next", "2026-12-11"),
    ("the week after next", "2026-12-07"), ("2 days before friday", "2026-11-25"),
    ("the monday after christmas", "2026-12-28"), ("the day before dec 24", "2026-12-23"),
    ("friday next week", "2026-12-04"), ("monday of next week", "2026-11-30"),
    ("next week on friday", "2026-12-04"), ("this friday", "2026-11-27"),
    ("this monday", "2026-11-23"), ("the coming friday", "2026-11-27"),
    ("first monday of december", "2026-12-07"), ("the last friday of the month", "2026-11-27"),
    ("first monday of november", "2027-11-01"), ("2nd tuesday in january 2027", "2027-01-12"),
    ("last day of february", "2027-02-28"), ("last working day of next month", "2026-12-31"),
    ("the 15th of next month", "2026-12-15"), ("first of the month", "2026-12-01"),
    ("end of the month", "2026-11-30"), ("by the end of the week", "2026-11-29"),
    ("beginning of next year", "2027-01-01"), ("end of december", "2026-12-31"),
    ("eod", "2026-11-23"), ("eow", "2026-11-29"), ("eom", "2026-11-30"), ("eoy", "2026-12-31"),
    ("this week", "2026-11-29"), ("this weekend", "2026-11-28"), ("next weekend", "2026-12-05"),
    ("next quarter", "2027-01-01"), ("next december", "2026-12-01"), ("in december", "2026-12-01"),
    ("in november", "2026-11-23"), ("in 2027", "2027-01-01"),
    ("in two weeks", "2026-12-07"), ("in two weeks' time", "2026-12-07"),
    ("in a couple of days", "2026-11-25"), ("in a fortnight", "2026-12-07"),
    ("in half an hour", "2026-11-23T11:00:00.000Z"), ("in 2h30m", "2026-11-23T13:00:00.000Z"),
    ("in an hour and a half", "2026-11-23T12:00:00.000Z"),
    ("in 1.5 hours", "2026-11-23T12:00:00.000Z"), ("in 1 week and 2 days", "2026-12-02"),
    ("in 5 business days", "2026-11-30"), ("within 3 days", "2026-11-26"),
    ("+3 days", "2026-11-26"), ("next business day", "2026-11-24"),
    ("1st of december", "2026-12-01"), ("december the 24th", "2026-12-24"),
    ("twenty-first of december", "2026-12-21"), ("dec 1 '27", "2027-12-01"),
    ("the 24th", "2026-11-24"), ("on the 20th", "2026-12-20"), ("fri, nov 27", "2026-11-27"),
    ("Friday, 4th of December 2026, at 4 pm", "2026-12-04T15:00:00.000Z"),
    ("friday the 13th", "2027-08-13"), ("by christmas", "2026-12-25"),
    ("24.12.", "2026-12-24"), ("24.12.2026", "2026-12-24"), ("24.12.26", "2026-12-24"),
    ("on 24.12", "2026-12-24"), ("24. dec", "2026-12-24"), ("24/12/2026", "2026-12-24"),
    ("12/24", "2026-12-24"), ("2026/12/24", "2026-12-24"), ("24-12-2026", "2026-12-24"),
    ("tonight", "2026-11-23"), ("tonight at 8", "2026-11-23T19:00:00.000Z"),
    ("at 8 tonight", "2026-11-23T19:00:00.000Z"), ("this evening", "2026-11-23"),
    ("tomorrow morning", "2026-11-24"), ("tomorrow evening at 7", "2026-11-24T18:00:00.000Z"),
    ("fri at 5 in the afternoon", "2026-11-27T16:00:00.000Z"), ("in the morning", "2026-11-23"),
    ("at noon", "2026-11-23T11:00:00.000Z"), ("friday noon", "2026-11-27T11:00:00.000Z"),
    ("at noon tomorrow", "2026-11-24T11:00:00.000Z"), ("at midnight", "2026-11-23T23:00:00.000Z"),
    ("tonight at midnight", "2026-11-23T23:00:00.000Z"), ("at 17", "2026-11-23T16:00:00.000Z"),
    ("tomorrow by 5pm", "2026-11-24T16:00:00.000Z"), ("tomorrow 17", "2026-11-24T16:00:00.000Z"),
    ("tomorrow at 9.30", "2026-11-24T08:30:00.000Z"), ("fri 17h30", "2026-11-27T16:30:00.000Z"),
    ("tomorrow at nine am", "2026-11-24T08:00:00.000Z"),
    ("half past nine in the evening", "2026-11-23T20:30:00.000Z"),
    ("tomorrow at quarter to nine pm", "2026-11-24T19:45:00.000Z"),
    ("before friday", "2026-11-26"), ("no later than friday", "2026-11-27"),
    ("friday at the latest", "2026-11-27"), ("first thing tomorrow", "2026-11-24"),
    ("half past eight tonight", "2026-11-23T19:30:00.000Z"), ("5-dec-2026", "2026-12-05"),
    ("in the next 3 days", "2026-11-26"), ("before tonight", "2026-11-23"),
    ("due:2026-12-01", "2026-12-01"), ("due: fri", "2026-11-27"), ("(tomorrow)", "2026-11-24"),
  ])
  func phrases(text: String, due: String) throws {
    let found = try #require(try read(text))
    #expect(found.1 == due)
    #expect(found.0 == text.split(separator: " ").count)
  }

  /// Never another day than the one that was said.
  @Test(arguments: [
    "last friday", "after friday", "since friday", "from friday", "between mon and fri",
    "second friday", "a friday", "second to last friday of december", "mid december",
    "the week before christmas", "an hour before fri 9:00", "early next week",
    "middle of december", "friday at lunch", "friday 9ish", "friday or so", "mon-fri",
    "fri to sun", "fri 9:00-10:00", "1-3 dec", "dec 1-3", "on mondays", "on weekdays",
    "every first monday of the month", "each friday", "in a few days", "friday midnight",
    "tonight at 2", "tomorrow 5", "tomorrow at nine", "at 5", "9:00 EST", "9:00 +02:00",
    "fri 24 dec", "fifth friday of december", "31.02.2026", "1/2/2026", "on 1/2", "due:foo",
    "on the 3rd floor", "12-01-2026", "tomorrow + 2 days", "monday after easter",
    "a week monday",
    "in november 2025", "friday 24.12", "10:00 gmt+0900",
  ])
  func refusesPhrases(text: String) { #expect(throws: Failure.self) { try read(text) } }

  @Test(arguments: [
    "24/7", "1.2.3", "10.0.0.1", "24.12", "noon", "half an hour", "the 3rd chapter", "2 weeks",
    "may first", "at 5 degrees", "by 5", "a few minutes", "last week", "christmas", "5 to 9 pages",
    "second", "the day after", "week after week",
  ])
  func passesPhrases(text: String) throws { #expect(try read(text) == nil) }

  /// Before the first year that can be written, nothing is out of any table.
  @Test func longAgo() {
    let before = Timestamp(seconds: -62_200_000_000)
    for text in ["next month", "end of quarter", "first monday of may", "in 3 weeks", "the 31st"] {
      let words = text.split(separator: " ").map(String.init)
      _ = try? DueWords.read(words[...], now: before)
    }
  }

  /// On the wall, whatever clocks do in between.
  @Test func clocksChange() throws {
    let (berlin, newYork) = (MomentTests.berlin, MomentTests.newYork)
    // Back on October 25.
    #expect(
      try read("tomorrow 9:00", berlin, now: "2026-10-24T10:00:00Z")?.1
        == "2026-10-25T08:00:00.000Z")
    #expect(
      try read("today 9:00", berlin, now: "2026-10-24T10:00:00Z")?.1 == "2026-10-24T07:00:00.000Z")
    // Comes twice: the first.
    #expect(
      try read("tomorrow 2:30", berlin, now: "2026-10-24T10:00:00Z")?.1
        == "2026-10-25T00:30:00.000Z")
    // Forward on March 29: passed over.
    #expect(
      try read("tomorrow 2:30", berlin, now: "2026-03-28T10:00:00Z")?.1
        == "2026-03-29T01:30:00.000Z")
    #expect(
      try read("in 24 hours", berlin, now: "2026-03-28T10:00:00Z")?.1 == "2026-03-29T10:00:00.000Z")
    #expect(
      try read("in 1 day 11:00", berlin, now: "2026-03-28T10:00:00Z")?.1
        == "2026-03-29T09:00:00.000Z")
    // Another day than in UTC; back on November 1, forward on March 8.
    #expect(try read("tomorrow", newYork, now: "2026-11-24T03:00:00Z")?.1 == "2026-11-24")
    #expect(
      try read("tomorrow 9:00", newYork, now: "2026-10-31T12:00:00Z")?.1
        == "2026-11-01T14:00:00.000Z")
    #expect(
      try read("sun 9:00", newYork, now: "2026-03-06T12:00:00Z")?.1 == "2026-03-08T13:00:00.000Z")
    #expect(try read("tomorrow 0:15", MomentTests.kathmandu)?.1 == "2026-11-23T18:30:00.000Z")
  }

  @Test func yearsThatCannotBeWritten() throws {
    let before = Timestamp(seconds: -62_200_000_000)
    let last = try #require(Timestamp(rfc3339: "9999-12-31T12:00:00Z"))
    for (words, now) in [(["today"], before), (["in", "2h"], before), (["tomorrow"], last)] {
      #expect(throws: Failure.self) { try DueWords.read(words[...], now: now) }
    }
    #expect(try read("in a week", now: "0000-01-01T12:00:00Z")?.1 == "0000-01-08")
  }

  @Test func weekOfSunday() throws {
    let sunday = "2026-11-29T10:00:00Z"
    #expect(try read("next week", now: sunday)?.1 == "2026-11-30")
    #expect(try read("next fri", now: sunday)?.1 == "2026-12-04")
    #expect(try read("fri", now: sunday)?.1 == "2026-12-04")
    #expect(try read("in a month", now: "2027-01-31T10:00:00Z")?.1 == "2027-02-28")
  }
}

@Suite struct DueTimeTests {
  private let zone = MomentTests.berlin

  @Test func readsAndWrites() {
    #expect(DueTime("2026-12-01") == .day(20_788))
    #expect(DueTime("2026-12-01")?.text == "2026-12-01")
    #expect(DueTime("2026-12-01T10:00:00+01:00")?.text == "2026-12-01T09:00:00.000Z")
    for text in [
      "2026-12-01T10:00:00", "2026-12-01T10:00", "2026-12-01 10:00", "2026-12-01T10:00:00.000",
    ] {
      #expect(DueTime(text, zone: zone)?.text == "2026-12-01T09:00:00.000Z")
    }
    for text in ["", "2026-02-30", "tomorrow", "2026-12-01T1", "2026-12-01T25:00", "2026-12-1"] {
      #expect(DueTime(text) == nil)
    }
  }

  @Test(arguments: [
    ("2026-11-22", DueTime.Distance.overdue), ("2026-11-23", .today), ("2026-11-24", .later),
    ("2026-11-23T22:29:59Z", .overdue), ("2026-11-23T22:30:00Z", .today),
    ("2026-11-23T22:59:59Z", .today), ("2026-11-23T23:00:00Z", .later),
  ])
  func distance(due: String, distance: DueTime.Distance) throws {
    // Half an hour before midnight in Berlin.
    let now = try #require(Timestamp(rfc3339: "2026-11-23T22:30:00Z"))
    #expect(try #require(DueTime(due)).distance(from: now, in: zone) == distance)
  }

  @Test func words() throws {
    let now = try #require(Timestamp(rfc3339: "2026-11-23T10:00:00Z"))
    #expect(DueTime("2026-11-24")?.words(now: now, in: zone) == "Tue 24 Nov")
    #expect(DueTime("2026-11-23T23:05:00Z")?.words(now: now, in: zone) == "Tue 24 Nov 00:05")
    #expect(DueTime("2027-01-01")?.words(now: now, in: zone) == "Fri 1 Jan 2027")
    #expect(DueTime("1969-12-31")?.words(now: now, in: zone) == "Wed 31 Dec 1969")
  }
}
