/// A request's line and fields (RFC 9112, sections 3 and 5), read strictly:
/// what two readers could understand differently is refused.
struct RequestHead: Equatable, Sendable {
  /// How the body ends (RFC 9112, section 6.3).
  enum Framing: Equatable, Sendable {
    /// After so many bytes.
    case length(Int)
    /// With its last chunk.
    case chunked
  }

  /// As written; methods are case-sensitive.
  let method: String
  /// The target up to the `?`, neither decoded nor tidied up.
  let path: String
  /// The target behind the `?`.
  let query: String
  /// Whether the client speaks HTTP/1.0: no chunks, no further request.
  let isOld: Bool
  /// How the body ends.
  let framing: Framing
  private let fields: [String: String]

  /// - Parameter bytes: the head with the line end of its last field.
  /// - Throws: `RequestFault`.
  init(_ bytes: ArraySlice<UInt8>) throws(RequestFault) {
    var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map { line in
      line.last == 13 ? line.dropLast() : line
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    let words = (lines.first ?? []).split(separator: 32, omittingEmptySubsequences: false)
    guard words.count == 3, words.allSatisfy({ !$0.isEmpty }), Self.isToken(words[0]) else {
      throw .malformed
    }
    method = Self.text(words[0])
    let target = words[1].split(separator: 63, maxSplits: 1, omittingEmptySubsequences: false)
    path = Self.text(target[0])
    query = target.count > 1 ? Self.text(target[1]) : ""
    switch Self.text(words[2]) {
    case "HTTP/1.1": isOld = false
    case "HTTP/1.0": isOld = true
    default: throw .malformed
    }
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: 58), Self.isToken(line[..<colon]) else {
        throw .malformed
      }
      let name = Self.text(line[..<colon]).lowercased()
      let value = Self.text(line[(colon + 1)...]).trimmingBlanks()
      if let known = fields[name] {
        if name == "content-length" && known != value { throw .malformed }
        if name != "content-length" { fields[name] = known + ", " + value }
      } else {
        fields[name] = value
      }
    }
    self.fields = fields
    framing = try Self.framing(fields)
  }

  /// The one segment of the path between two others, percent-decoded; nil when
  /// the path is another or the segment is empty.
  func segment(after prefix: String, before suffix: String) -> String? {
    guard path.hasPrefix(prefix), path.hasSuffix(suffix),
      path.utf8.count > prefix.utf8.count + suffix.utf8.count
    else { return nil }
    let segment = path.dropFirst(prefix.count).dropLast(suffix.count)
    return segment.contains("/") ? nil : QueryText.decode(segment, plusIsBlank: false)
  }

  /// A field's value without blanks around it; several lines of one name are
  /// joined by commas.
  subscript(_ name: String) -> String? { fields[name.lowercased()] }

  /// Whether the connection goes on behind this request.
  var keepsAlive: Bool {
    !isOld
      && !(self["connection"] ?? "").lowercased().split(separator: ",")
        .contains { $0.trimmingBlanks() == "close" }
  }

  private static func framing(_ fields: [String: String]) throws(RequestFault) -> Framing {
    if let coding = fields["transfer-encoding"] {
      guard coding.lowercased() == "chunked", fields["content-length"] == nil else {
        throw .malformed
      }
      return .chunked
    }
    guard let length = fields["content-length"] else { return .length(0) }
    guard length.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let count = Int(length) else {
      throw .malformed
    }
    return .length(count)
  }

  /// RFC 9110, section 5.6.2.
  private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty
      && bytes.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }
}

/// Why a request cannot be read; the connection ends behind the answer.
enum RequestFault: Error, Equatable {
  /// It is no HTTP/1 request.
  case malformed
  /// Its head is longer than anybody's.
  case headTooLarge

  /// What is answered.
  var answer: Answer {
    switch self {
    case .malformed: .error("bad_request", status: 400)
    case .headTooLarge: .error("request_head_too_large", status: 431)
    }
  }
}
