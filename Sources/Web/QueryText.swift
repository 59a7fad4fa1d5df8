/// The query of a URL, and single parts of its path.
public enum QueryText {
  /// `?limit=5&kinds=a%2Cb`, empty when there is nothing to say.
  ///
  /// - Parameter items: name and value; those without a value are left out.
  public static func encode(_ items: [(name: String, value: String?)]) -> String {
    let pairs = items.compactMap { item in
      item.value.map { "\(part(item.name))=\(part($0))" }
    }
    return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
  }

  /// A text with every byte that is not unreserved (RFC 3986, section 2.3) as
  /// `%XX`: for one value of a query, or one segment of a path.
  public static func part(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var out: [UInt8] = []
    out.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, 45, 46, 95, 126: out.append(byte)
      default: out += [37, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    // A segment of dots alone would be taken for a step in the path.
    if !out.isEmpty, out.allSatisfy({ $0 == 46 }) {
      return String(repeating: "%2E", count: out.count)
    }
    return String(decoding: out, as: UTF8.self)
  }
}
