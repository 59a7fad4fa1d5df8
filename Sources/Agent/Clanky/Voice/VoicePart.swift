import Core

/// A part of a voice state: a member of it, or an element of one.
///
/// What no event changes is not kept but read where it is asked for: the accessor's own name
/// is the member's. Reading never fails: a member that is missing, null, blank or of another
/// type is nil or empty.
protocol VoicePart: Sendable {
  /// What the state said; nil for what only events told of.
  var json: JSONValue? { get }

  init(json: JSONValue?)
}

extension VoicePart {
  init(_ json: JSONValue) { self.init(json: json) }

  func value(_ name: String = #function) -> String? { json?.text(name) }
  func value(_ name: String = #function) -> Double? { json?.double(name) }
  func value(_ name: String = #function) -> Int? { json?.int(name) }
  func value(_ name: String = #function) -> Bool? { json?.bool(name) }
  func value(_ name: String = #function) -> Timestamp? { json?.time(name) }
  func value(_ name: String = #function) -> [String] { json?.texts(name) ?? [] }
  func value<Part: VoicePart>(_ name: String = #function) -> [Part] {
    json?.list(Part.init(json:), name) ?? []
  }
  func value<Part: VoicePart>(_ name: String = #function) -> Part? {
    guard let member = json?[name], member.isObject else { return nil }
    return Part(json: member)
  }
}

extension JSONValue {
  /// The most bytes of a text that is kept; far more than a screen shows.
  static let mostVoiceText = 16 * 1024
  /// The most elements of a list that are kept; servers send at most 220.
  static let mostVoiceElements = 1000

  /// A text, number or truth value as text; nil when it is empty. Only the beginning of a
  /// very long one.
  func text(_ name: String) -> String? { self[name]?.keptText }

  func text(_ name: String, _ other: String) -> String? { text(name) ?? text(other) }

  private var keptText: String? {
    let text = string(bytes: Self.mostVoiceText) ?? self.text
    return text?.isEmpty == true ? nil : text
  }

  /// A finite number, or a text that is one.
  func double(_ name: String) -> Double? {
    guard let number = self[name]?.number, number.isFinite else { return nil }
    return number
  }

  /// A whole number; a fraction is cut off, more than 2^53 counts as none.
  func int(_ name: String) -> Int? {
    guard let number = self[name]?.number, abs(number) <= 9_007_199_254_740_992 else { return nil }
    return Int(number)
  }

  func bool(_ name: String) -> Bool? { self[name]?.bool }

  /// An instant: RFC 3339, or milliseconds since 1970 as a number.
  func time(_ name: String) -> Timestamp? {
    guard let member = self[name] else { return nil }
    if let time = member.withBytes({ $0.count <= 64 ? Timestamp(rfc3339: $0) : nil }) {
      return time
    }
    guard let number = member.number, abs(number) <= 8.64e15 else { return nil }
    let milliseconds = Int64(number.rounded(.down))
    let rest = (milliseconds % 1000 + 1000) % 1000
    return Timestamp(seconds: (milliseconds - rest) / 1000, nanoseconds: Int32(rest) * 1_000_000)
  }

  /// The last elements of a list that are objects, each made into something.
  func list<Part>(_ make: (JSONValue) -> Part, _ name: String) -> [Part] {
    lastElements(name) { $0.isObject ? make($0) : nil }
  }

  func objects(_ name: String) -> Int { list({ _ in () }, name).count }

  /// The last elements of a list that are texts; of an object, its name.
  func texts(_ name: String) -> [String] {
    lastElements(name) { $0.keptText ?? $0.text("displayName", "name") }
  }

  private func lastElements<Part>(_ name: String, _ make: (JSONValue) -> Part?) -> [Part] {
    guard let member = self[name] else { return [] }
    let count = member.kind == .array ? member.count : 0
    return (max(0, count - Self.mostVoiceElements)..<count).compactMap { index in
      member.element(index).flatMap(make)
    }
  }
}
