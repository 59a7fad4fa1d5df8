import Core
import Records

/// The words about the link: for a person on stderr, as records with `-L`.
public struct LinkNotes {
  private let diagnostics: Diagnostics
  private let profile: String?
  private let speaks: Bool
  let recordsWanted: Bool

  init(diagnostics: Diagnostics, profile: String?, speaks: Bool, recordsWanted: Bool) {
    self.diagnostics = diagnostics
    self.profile = profile
    self.speaks = speaks
    self.recordsWanted = recordsWanted
  }

  /// `down`: seconds since the first failure before it.
  func opened(_ place: String, isFirst: Bool, down: Double?) -> String {
    if let down {
      if speaks {
        diagnostics.say("stream is \(isFirst ? "open" : "back") after \(Self.short(down)) s")
      }
    } else {
      diagnostics.note("stream is open: \(place)")
    }
    let record = start(isFirst ? .open : .resumed).string("url", place)
    return end(record.json("down", down.map(Self.short)))
  }

  /// The stream is lost; the next try is in `wait` seconds.
  func lost(_ reason: String, wait: Double) -> String {
    if speaks { diagnostics.say("stream is down: \(reason); next try in \(Self.short(wait)) s") }
    return end(start(.lost).string("reason", reason).json("retry_in", Self.short(wait)))
  }

  func gap(_ gap: StreamGap) -> String {
    if let numbers = gap.numbers {
      let (first, last) = (numbers.lowerBound, numbers.upperBound)
      let what = first == last ? "event \(first) was" : "events \(first) to \(last) were"
      diagnostics.say("gap: \(what) lost")
      return end(start(.gap).number("from", first).number("to", last))
    }
    let after = gap.after ?? "the start"
    let before = gap.before ?? "now"
    let names = gap.parts.map(\.words)
    let named = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", and others" : "")
    let what = names.isEmpty || names.contains("") ? "" : " of \(named)"
    diagnostics.say(
      "possible gap: \(gap.thing)\(what) between \(after) and \(before) may be missing")
    let list = gap.parts.map(\.record).joined(separator: ",")
    return end(
      start(.gap).stringOrNull("after", gap.after).stringOrNull("before", gap.before)
        .json("unreached", gap.parts.isEmpty ? nil : "[\(list)]"))
  }

  func ended(_ reason: String) -> String { Self.ended(reason, profile: profile) }

  /// Nothing more comes of a stream; nil for a profile that need not be named.
  public static func ended(_ reason: String, profile: String?) -> String {
    RecordText(.end).string("profile", profile).string("reason", reason).time(.now()).text + "\n"
  }

  private func start(_ type: RecordType) -> RecordText {
    RecordText(type).string("profile", profile)
  }

  private func end(_ record: RecordText) -> String { record.time(.now()).text + "\n" }

  /// Seconds with one decimal: `3.2`.
  static func short(_ seconds: Double) -> String {
    let tenths = Int64((min(max(seconds, 0), 1e12) * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
