/// The few searches in short texts that the commands need. Those of the standard
/// library bring its regular expressions into a command: 2 MB and their pages.
extension StringProtocol {
  /// Where another text begins and ends for the first time, compared by bytes.
  public func place(of text: String) -> Range<Index>? {
    var start = startIndex
    while true {
      if utf8[start...].starts(with: text.utf8) {
        return start..<utf8.index(start, offsetBy: text.utf8.count)
      }
      guard start < endIndex else { return nil }
      start = utf8.index(after: start)
    }
  }

  /// Whether another text is in this one, compared by bytes.
  public func holds(_ text: String) -> Bool { place(of: text) != nil }

  /// The text with each occurrence of a text that is not empty exchanged for another.
  public func exchanging(text: String, for other: String) -> String {
    var out = ""
    var rest = String(self)[...]
    while !text.isEmpty, let place = rest.place(of: text) {
      out += rest[..<place.lowerBound]
      out += other
      rest = rest[place.upperBound...]
    }
    return out + rest
  }

  /// The text with each of a scalar exchanged for a text.
  public func exchanging(_ scalar: Unicode.Scalar, for text: String) -> String {
    var out = ""
    for each in unicodeScalars {
      if each == scalar { out += text } else { out.unicodeScalars.append(each) }
    }
    return out
  }
}
