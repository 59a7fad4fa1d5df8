import Core

/// Reads members as the voice models want them: what is missing, null, blank or
/// of another type is nil or empty, and nothing throws.
extension JSONValue {
  /// The most bytes of a text that a model keeps; far more than a screen shows.
  static let mostVoiceText = 16 * 1024
  /// The most elements of a list that a model keeps; servers send at most 220.
  static let mostVoiceElements = 1000

  /// A text, number or truth value as text; nil when it is empty. Only the
  /// beginning of a very long one.
  func text(_ name: String) -> String? { self[name]?.keptText }

  /// The first of two members that is a text.
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

  /// The first of two members that is a number.
  func double(_ name: String, _ other: String) -> Double? { double(name) ?? double(other) }

  /// A whole number; a fraction is cut off, more than 2^53 counts as none.
  func int(_ name: String) -> Int? {
    guard let number = self[name]?.number, abs(number) <= 9_007_199_254_740_992 else { return nil }
    return Int(number)
  }

  /// The first of two members that is a whole number.
  func int(_ name: String, _ other: String) -> Int? { int(name) ?? int(other) }

  /// A truth value, nil for anything else.
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

  /// The first of two members that is an instant.
  func time(_ name: String, _ other: String) -> Timestamp? { time(name) ?? time(other) }

  /// A member that is an object, made into a model.
  func part<Part>(_ make: (JSONValue) -> Part, _ name: String) -> Part? {
    guard let member = self[name], member.isObject else { return nil }
    return make(member)
  }

  /// The last elements of a list that are objects, each made into a model.
  func list<Part>(_ make: (JSONValue) -> Part, _ name: String) -> [Part] {
    lastElements(name) { $0.isObject ? make($0) : nil }
  }

  /// How many of the last elements of a list are objects.
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
