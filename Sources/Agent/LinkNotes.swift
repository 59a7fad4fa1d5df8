import Core

/// The words about the link: for a person on stderr, as records with `-L`.
struct LinkNotes {
  private let diagnostics: Diagnostics
  /// The member that says whose stream it is, empty where that need not be said.
  private let profile: String
  /// Whether a person is told that the stream is down and back.
  private let speaks: Bool
  /// Whether records are wanted.
  let recordsWanted: Bool

  init(diagnostics: Diagnostics, profile: String?, speaks: Bool, recordsWanted: Bool) {
    self.diagnostics = diagnostics
    self.profile = profile.map { ",\"profile\":\(JSONQuote.string($0))" } ?? ""
    self.speaks = speaks
    self.recordsWanted = recordsWanted
  }

  /// The stream is open, for the first time or again; `down` are the seconds
  /// since the first failure before it.
  func opened(_ place: String, isFirst: Bool, down: Double?) -> String {
    var members = [("url", JSONQuote.string(place))]
    if let down {
      if speaks {
        diagnostics.say("stream is \(isFirst ? "open" : "back") after \(Self.short(down)) s")
      }
      members.append(("down", Self.short(down)))
    } else {
      diagnostics.note("stream is open: \(place)")
    }
    return record(isFirst ? "open" : "resumed", members)
  }

  /// The stream is lost; the next try is in `wait` seconds.
  func lost(_ reason: String, wait: Double) -> String {
    if speaks { diagnostics.say("stream is down: \(reason); next try in \(Self.short(wait)) s") }
    return record("lost", [("reason", JSONQuote.string(reason)), ("retry_in", Self.short(wait))])
  }

  /// Actions may be missing.
  func gap(_ gap: StreamGap) -> String {
    let after = gap.after ?? "the start"
    let before = gap.before ?? "now"
    let names = gap.parts.map(\.words)
    let named = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", and others" : "")
    let what = names.isEmpty || names.contains("") ? "" : " of \(named)"
    diagnostics.say("possible gap: actions\(what) between \(after) and \(before) may be missing")
    var members = [
      ("after", gap.after.map(JSONQuote.string) ?? "null"),
      ("before", gap.before.map(JSONQuote.string) ?? "null"),
    ]
    if !gap.parts.isEmpty {
      let list = gap.parts.map(\.record).joined(separator: ",")
      members.append(("unreached", "[\(list)]"))
    }
    return record("gap", members)
  }

  /// Nothing more comes.
  func ended(_ reason: String) -> String {
    record("end", [("reason", JSONQuote.string(reason))])
  }

  private func record(_ type: String, _ members: [(String, String)]) -> String {
    let rest = members.map { ",\"\($0.0)\":\($0.1)" }.joined()
    return "{\"type\":\"\(type)\"\(profile)\(rest),\"time\":\"\(Timestamp.now().rfc3339)\"}\n"
  }

  /// Seconds with one decimal: `3.2`.
  static func short(_ seconds: Double) -> String {
    let tenths = Int64((min(max(seconds, 0), 1e12) * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
