import Core
import Records

/// A stream that another one takes its records from: `STREAM`, or `STREAM@DOMAIN` for one of a
/// server that is a leaf with a JetStream domain of its own.
public struct BusSource: Hashable, Sendable {
  /// The stream's name.
  public let stream: String
  /// The domain; nil for our own.
  public let domain: String?

  /// - Parameter text: as a person writes it; nil for what is none.
  public init?(_ text: Substring) {
    let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      .map(String.init)
    guard parts.allSatisfy(BusSubject.isName) else { return nil }
    (stream, domain) = (parts[0], parts.count > 1 ? parts[1] : nil)
  }

  init(_ value: JSONValue) {
    stream = value["name"]?.string ?? ""
    domain = value["external"]?["api"]?.string.map { api in
      let words = api.split(separator: ".", omittingEmptySubsequences: false)
      return words.count == 3 ? String(words[1]) : api
    }
  }

  /// As JetStream reads it. What it sends finds its way through the leaf's link by itself.
  var config: RecordText {
    RecordText().string("name", stream).object(
      "external",
      domain.map { RecordText().string("api", "$JS.\($0).API").string("deliver", "") })
  }
}
