import Core

indirect enum MemberShape: Sendable {
  /// A text of so many UTF-16 units.
  case text(ClosedRange<Int>)
  case word([String])
  case integer(ClosedRange<Int64>)
  case bool
  case list(MemberShape, atMost: Int)
  case object(ClosedObject)
  case anyObject
  case any

  static let name = MemberShape.text(1...512)
  static let words = MemberShape.text(0...Int.max)
  static let count = MemberShape.integer(0...9_007_199_254_740_991)
}

/// The gateway refuses what it does not know (Agent/OpenClaw/CONTRACT.md 1).
struct ClosedObject: Sendable, ExpressibleByDictionaryLiteral {
  private let members: [String: (shape: MemberShape, isRequired: Bool)]

  init(dictionaryLiteral members: (String, MemberShape)...) {
    self.members = Dictionary(
      members.map { name, shape in
        let isOptional = name.hasSuffix("?")
        return (isOptional ? String(name.dropLast()) : name, (shape, !isOptional))
      }, uniquingKeysWith: { first, _ in first })
  }

  func check(_ value: JSONValue, _ place: String) throws(GatewayFault) {
    guard value.isObject else { throw .invalid("\(place): not an object") }
    var missing = Set(members.filter(\.value.isRequired).keys)
    for (name, member) in value.members {
      guard let known = members[name] else {
        throw .invalid("\(place): unexpected property '\(name.prefix(80))'")
      }
      missing.remove(name)
      try Self.check(member, known.shape, "\(place).\(name)")
    }
    if let name = missing.min() { throw .invalid("\(place): must have property '\(name)'") }
  }

  private static func check(
    _ value: JSONValue, _ shape: MemberShape, _ place: String
  ) throws(GatewayFault) {
    switch shape {
    case .any: return
    case .anyObject where value.isObject: return
    case .bool where value.kind == .bool: return
    case .text(let range):
      if let text = value.string, range.contains(text.utf16.count) { return }
      if value.string != nil {
        throw .invalid("\(place): \(range.lowerBound) to \(range.upperBound) characters")
      }
    case .word(let words):
      if let text = value.string, words.contains(text) { return }
      throw .invalid("\(place): not one of \(words.joined(separator: ", "))")
    case .integer(let range):
      if let number = value.integer, range.contains(number) { return }
      throw .invalid(
        "\(place): not a whole number from \(range.lowerBound) to \(range.upperBound)")
    case .list(let shape, let limit):
      if value.kind == .array, value.count <= limit {
        for (index, element) in value.elements.enumerated() {
          try check(element, shape, "\(place)[\(index)]")
        }
        return
      }
    case .object(let object): return try object.check(value, place)
    case .anyObject, .bool: break
    }
    throw .invalid("\(place): of another type")
  }
}
