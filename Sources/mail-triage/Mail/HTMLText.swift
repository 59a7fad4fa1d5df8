/// What a page of HTML says, without its tags. Enough for a preview: nothing is laid out, and
/// what is hidden by a style is not.
enum HTMLText {
  /// Those whose content is no text.
  private static let silent: Set<String> = ["script", "style", "title"]
  /// Those that end a line or a cell.
  private static let blocks: Set<String> = [
    "address", "article", "blockquote", "br", "dd", "div", "dt", "footer", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hr", "li", "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul",
  ]

  /// - Returns: the text, with blanks where blocks end.
  static func plain(_ html: String) -> String {
    let bytes = Array(html.utf8)
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var at = 0
    // Where nothing more ends, it is not looked for at every beginning.
    var hasEnd = true
    while at < bytes.count {
      let byte = bytes[at]
      if byte == UInt8(ascii: "<"), hasEnd, let tag = tag(bytes, at, &hasEnd) {
        if blocks.contains(tag.name) { out.append(0x20) }
        let isOpen = bytes[at + 1] != UInt8(ascii: "/")
        at = isOpen && silent.contains(tag.name) ? silence(bytes, tag) : tag.end
      } else if byte == UInt8(ascii: "&"), let (text, end) = reference(bytes, at) {
        out += text.utf8
        at = end
      } else {
        out.append(byte)
        at += 1
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// A tag or a comment that begins at a `<`; nil for a `<` of the text.
  private static func tag(
    _ bytes: [UInt8], _ start: Int, _ hasEnd: inout Bool
  ) -> (name: String, end: Int)? {
    var at = start + 1
    if bytes[at...].starts(with: "!--".utf8) {
      // One without an end hides all that follows, as in a browser.
      return ("", find("-->", bytes, at + 3) ?? bytes.count)
    }
    guard at < bytes.count else { return nil }
    if bytes[at] == UInt8(ascii: "/") { at += 1 }
    guard at < bytes.count,
      bytes[at] | 0x20 >= 0x61 && bytes[at] | 0x20 <= 0x7a
        || bytes[at] == UInt8(ascii: "!") || bytes[at] == UInt8(ascii: "?")
    else { return nil }
    let name = bytes[at...].prefix(16).prefix { $0.isAlphanumeric }
    guard let close = bytes[at...].firstIndex(of: UInt8(ascii: ">")) else {
      hasEnd = false
      return nil
    }
    return (String(decoding: name, as: UTF8.self).lowercased(), close + 1)
  }

  /// The end tag of an element whose content is no text, or the end of all when there is
  /// none.
  private static func silence(_ bytes: [UInt8], _ tag: (name: String, end: Int)) -> Int {
    find("</\(tag.name)", bytes, tag.end).map { $0 - tag.name.utf8.count - 2 } ?? bytes.count
  }

  /// Where the first of a text ends, in any case of its letters.
  private static func find(_ text: String, _ bytes: [UInt8], _ start: Int) -> Int? {
    let wanted = Array(text.utf8)
    var at = start
    while at + wanted.count <= bytes.count {
      if bytes[at] == wanted[0],
        zip(bytes[at...], wanted).allSatisfy({ $0 == $1 || $1.isAlphanumeric && $0 | 0x20 == $1 })
      {
        return at + wanted.count
      }
      at += 1
    }
    return nil
  }

  /// What a name stands for: those of HTML 4, and the marks of ASCII.
  private static let names: [String: String] = {
    var names = [
      "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "nbsp": " ", "ensp": " ", "emsp": " ",
      "thinsp": " ", "shy": "", "zwnj": "", "zwj": "", "lrm": "", "rlm": "",
    ]
    let words = table.split { $0 == " " || $0 == "\n" }.map(String.init)
    for index in stride(from: 0, to: words.count - 1, by: 2) {
      names[words[index]] = words[index + 1]
    }
    return names
  }()

  private static let table = """
    iexcl ¡ cent ¢ pound £ curren ¤ yen ¥ brvbar ¦ sect § uml ¨ copy © ordf ª laquo « not ¬ reg \
    ® macr ¯ deg ° plusmn ± sup2 ² sup3 ³ acute ´ micro µ para ¶ middot · cedil ¸ sup1 ¹ ordm º \
    raquo » frac14 ¼ frac12 ½ frac34 ¾ iquest ¿ Agrave À Aacute Á Acirc Â Atilde Ã Auml Ä Aring \
    Å AElig Æ Ccedil Ç Egrave È Eacute É Ecirc Ê Euml Ë Igrave Ì Iacute Í Icirc Î Iuml Ï ETH Ð \
    Ntilde Ñ Ograve Ò Oacute Ó Ocirc Ô Otilde Õ Ouml Ö times × Oslash Ø Ugrave Ù Uacute Ú Ucirc \
    Û Uuml Ü Yacute Ý THORN Þ szlig ß agrave à aacute á acirc â atilde ã auml ä aring å aelig æ \
    ccedil ç egrave è eacute é ecirc ê euml ë igrave ì iacute í icirc î iuml ï eth ð ntilde ñ \
    ograve ò oacute ó ocirc ô otilde õ ouml ö divide ÷ oslash ø ugrave ù uacute ú ucirc û uuml ü \
    yacute ý thorn þ yuml ÿ OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ tilde ˜ Alpha \
    Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi \
    Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β \
    gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ \
    omicron ο pi π rho ρ sigmaf ς sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω thetasym ϑ \
    upsih ϒ piv ϖ ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † \
    Dagger ‡ bull • hellip … permil ‰ prime ′ Prime ″ lsaquo ‹ rsaquo › oline ‾ frasl ⁄ euro € \
    image ℑ weierp ℘ real ℜ trade ™ alefsym ℵ larr ← uarr ↑ rarr → darr ↓ harr ↔ crarr ↵ lArr ⇐ \
    uArr ⇑ rArr ⇒ dArr ⇓ hArr ⇔ forall ∀ part ∂ exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋ prod \
    ∏ sum ∑ minus − lowast ∗ radic √ prop ∝ infin ∞ ang ∠ and ∧ or ∨ cap ∩ cup ∪ int ∫ there4 ∴ \
    sim ∼ cong ≅ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ nsub ⊄ sube ⊆ supe ⊇ oplus ⊕ otimes \
    ⊗ perp ⊥ sdot ⋅ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ lang 〈 rang 〉 loz ◊ spades ♠ clubs ♣ \
    hearts ♥ diams ♦ apos ' hyphen ‐ star ☆ check ✓ cross ✗ phone ☎ female ♀ male ♂ lbrack [ \
    rbrack ] lbrace { rbrace } lpar ( rpar ) comma , period . colon : semi ; excl ! quest ? num \
    # percnt % ast * plus + equals = dollar $ commat @ lowbar _ sol / grave ` vert |
    """

  /// A reference to a character that begins at a `&`.
  private static func reference(_ bytes: [UInt8], _ start: Int) -> (text: String, end: Int)? {
    let code = bytes[(start + 1)...].prefix(12)
    guard let close = code.firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let word = String(decoding: code[..<close], as: UTF8.self)
    if !word.hasPrefix("#") { return names[word].map { ($0, close + 1) } }
    let isHex = word.hasPrefix("#x") || word.hasPrefix("#X")
    guard let number = UInt32(word.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10),
      number > 0, let scalar = Unicode.Scalar(number)
    else { return nil }
    return (String(scalar), close + 1)
  }
}

extension UInt8 {
  /// Whether this is a letter or a digit of ASCII.
  var isAlphanumeric: Bool {
    (0x30...0x39).contains(self) || (0x61...0x7a).contains(self | 0x20)
  }
}
