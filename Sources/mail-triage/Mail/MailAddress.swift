struct MailAddress: Equatable {
  var name: String
  /// `ada@example.com`, as it was written.
  var address: String

  static let most = 200

  /// The addresses of a field (RFC 5322, section 3.4), as far as they can be made out.
  static func list(_ field: String) -> [MailAddress] {
    var reader = Reader()
    for scalar in field.unicodeScalars where reader.found.count < most { reader.append(scalar) }
    reader.end()
    return reader.found
  }

  private struct Reader {
    var found: [MailAddress] = []
    private var phrase = ""
    private var comment = ""
    private var address: String?
    private var isInAngle = false
    private var isQuoted = false
    private var isEscaped = false
    private var depth = 0

    mutating func append(_ scalar: Unicode.Scalar) {
      if isEscaped {
        isEscaped = false
        return add(scalar)
      }
      if scalar == "\\", isQuoted || depth > 0 {
        isEscaped = true
        return
      }
      if isQuoted {
        guard scalar == "\"" else { return add(scalar) }
        isQuoted = false
        if isInAngle { add(scalar) }
        return
      }
      if depth > 0 {
        if scalar == "(" { depth += 1 }
        if scalar == ")" { depth -= 1 }
        if depth > 0 { add(scalar) }
        return
      }
      switch scalar {
      case "\"":
        if isInAngle { add(scalar) }
        isQuoted = true
      case "(": depth = 1
      case "<" where !isInAngle: (isInAngle, address) = (true, "")
      case ">" where isInAngle: isInAngle = false
      case "," where !isInAngle, ";" where !isInAngle: end()
      // The name of a group.
      case ":" where !isInAngle: (phrase, comment) = ("", "")
      default: add(scalar)
      }
    }

    private mutating func add(_ scalar: Unicode.Scalar) {
      if depth > 0 {
        comment.unicodeScalars.append(scalar)
      } else if isInAngle {
        if !scalar.properties.isWhitespace { address?.unicodeScalars.append(scalar) }
      } else {
        phrase.unicodeScalars.append(scalar)
      }
    }

    mutating func end() {
      defer { (phrase, comment, address, isInAngle, isQuoted) = ("", "", nil, false, false) }
      if let address, !address.isEmpty {
        found.append(
          MailAddress(name: PlainText.line(EncodedWords.decode(phrase)), address: address))
        return
      }
      let bare = phrase.filter { !$0.isWhitespace }
      guard !bare.isEmpty else { return }
      // A name without an address is at least that.
      let isAddress = bare.contains("@")
      let name = isAddress ? comment : phrase
      found.append(
        MailAddress(
          name: PlainText.line(EncodedWords.decode(name)), address: isAddress ? bare : ""))
    }
  }
}
