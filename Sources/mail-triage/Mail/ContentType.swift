import Core

/// A value with parameters: `text/plain; charset="utf-8"` (RFC 2045, section 5.1).
struct ContentType {
  /// In lower case: `text/plain`, `attachment`.
  private(set) var value: String
  private var parameters: [String: String] = [:]

  init(_ field: String?) {
    var rest = Substring(field ?? "")
    let first = rest.prefix { $0 != ";" }
    value = first.trimmed.lowercased()
    rest = rest.dropFirst(first.count)
    while !rest.isEmpty, parameters.count < 32 {
      rest = rest.drop { $0 == ";" || $0.isWhitespace }
      let name = rest.prefix { $0 != "=" && $0 != ";" }
      rest = rest.dropFirst(name.count)
      guard rest.first == "=" else { continue }
      rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
      let found = Self.argument(&rest)
      let key = name.trimmed.lowercased()
      if parameters[key] == nil { parameters[key] = found }
    }
  }

  subscript(name: String) -> String? { parameters[name] }

  /// Whether it is of the form `kind/form`; what is not is read as text (RFC 2045, section 5.2).
  var isWhole: Bool {
    let parts = value.split(separator: "/", omittingEmptySubsequences: false)
    let marks = Array("+-._!#$&^*".utf8)
    return parts.count == 2
      && parts.allSatisfy { part in
        !part.isEmpty && part.utf8.allSatisfy { $0.isAlphanumeric || marks.contains($0) }
      }
  }

  var asPlain: ContentType {
    var other = self
    other.value = value.hasPrefix("text/html") ? "text/html" : "text/plain"
    return other
  }

  var kind: Substring { value.prefix { $0 != "/" } }

  private static func argument(_ rest: inout Substring) -> String {
    guard rest.first == "\"" else {
      let word = rest.prefix { $0 != ";" }
      rest = rest.dropFirst(word.count)
      return word.trimmed
    }
    var text = ""
    var isEscaped = false
    rest = rest.dropFirst()
    while let next = rest.popFirst() {
      if isEscaped {
        isEscaped = false
      } else if next == "\\" {
        isEscaped = true
        continue
      } else if next == "\"" {
        break
      }
      text.append(next)
    }
    rest = rest.drop { $0 != ";" }
    return text
  }
}
