import CLibc

/// An extended regular expression of POSIX, matched by regexec(3) against the
/// whole content: `^` and `$` are its beginning and end, not those of its lines.
public final class RegexSearch: Equatable {
  private var compiled = regex_t()

  /// - Throws: a fault with regerror(3)'s words.
  public init(_ pattern: String, ignoresCase: Bool) throws(Failure) {
    // Characters, not bytes, whatever the user's locale is.
    for name in ["C.UTF-8", "en_US.UTF-8", "UTF-8"] where setlocale(LC_CTYPE, name) != nil { break }
    let flags = REG_EXTENDED | REG_NOSUB | (ignoresCase ? REG_ICASE : 0)
    let status = regcomp(&compiled, pattern, flags)
    guard status == 0 else {
      var words = [CChar](repeating: 0, count: 256)
      regerror(status, &compiled, &words, words.count)
      let reason = String(
        decoding: words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      throw Failure(reason.lowercasedFirst)
    }
  }

  deinit { regfree(&compiled) }

  /// Each is itself alone.
  public static func == (one: RegexSearch, other: RegexSearch) -> Bool { one === other }

  /// Whether a text (UTF-8, unescaped, with any NUL) matches.
  public func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    var range = regmatch_t()
    range.rm_so = 0
    range.rm_eo = regoff_t(text.count)
    let base = text.baseAddress?.assumingMemoryBound(to: CChar.self)
    guard let base else { return regexec(&compiled, "", 0, nil, 0) == 0 }
    return regexec(&compiled, base, 1, &range, REG_STARTEND) == 0
  }
}
