import CLibc
import Core

/// A text that the content is to hold, compared by bytes after the content's
/// escapes are decoded, or by Unicode simple folding.
final class TextSearch {
  /// What is looked for, folded where case does not matter.
  let needle: [UInt8]
  private let folding: CaseFolding?
  private let folded = ScanScratch()
  /// Finds what a content with the text has, before its escapes are decoded;
  /// nil where there is no such thing.
  private var traces: LiteralSearch?

  /// How much of a content is folded at a time.
  private static let piece = 16 * 1024

  /// - Parameters:
  ///   - text: what is looked for; the empty text is in every content.
  ///   - ignoresCase: whether upper and lower case are the same.
  init(_ text: String, ignoresCase: Bool) {
    let bytes = Array(text.utf8)
    folding = ignoresCase ? CaseFolding() : nil
    needle = folding?.fold(bytes) ?? bytes
    traces = literal.map { LiteralSearch([$0]) }
  }

  /// False when no text of these bytes can hold the needle: a quick look at what
  /// stands between the quotes of a string, escapes and all.
  func mayMatch(_ raw: UnsafeRawBufferPointer) -> Bool {
    traces.map { $0.find(raw) != nil } ?? true
  }

  /// Whether upper and lower case are the same.
  var ignoresCase: Bool { folding != nil }

  /// Whether a text (UTF-8, unescaped) holds the needle.
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    guard !needle.isEmpty else { return true }
    guard let base = text.baseAddress else { return false }
    if let folding { return matches(text, folding) }
    return clibc_memmem(base, text.count, needle, needle.count) != nil
  }

  private func matches(_ text: UnsafeRawBufferPointer, _ folding: CaseFolding) -> Bool {
    let capacity = Self.piece + needle.count
    let out = folded.reserve(capacity)
    var index = 0
    var kept = 0
    while true {
      let count = folding.fold(text, from: &index, to: out + kept, capacity: capacity - kept)
      if count == 0 { return false }
      let length = kept + count
      if clibc_memmem(out, length, needle, needle.count) != nil { return true }
      // A match may begin in this piece and end in the next.
      kept = min(needle.count - 1, length)
      memmove(out, out + length - kept, kept)
    }
  }
}

extension CaseFolding {
  /// The folding of a short text.
  func fold(_ text: [UInt8]) -> [UInt8] {
    // U+023A (two bytes) folds to U+2C65 (three): a text may grow by half.
    let capacity = text.count * 2 + 16
    return text.withUnsafeBytes { bytes in
      [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        guard let out = buffer.baseAddress else { return }
        var index = 0
        count = fold(bytes, from: &index, to: out, capacity: capacity)
      }
    }
  }
}

/// An extended regular expression of POSIX, matched by regexec(3) against the
/// whole content: `^` and `$` are its beginning and end, not those of its lines.
final class RegexSearch {
  private var compiled = regex_t()

  /// - Parameters:
  ///   - pattern: the expression.
  ///   - ignoresCase: whether upper and lower case are the same.
  /// - Throws: `UsageError` with regerror(3)'s words.
  init(_ pattern: String, ignoresCase: Bool) throws(UsageError) {
    // Characters, not bytes, whatever the user's locale is.
    for name in ["C.UTF-8", "en_US.UTF-8", "UTF-8"] where setlocale(LC_CTYPE, name) != nil { break }
    let flags = REG_EXTENDED | REG_NOSUB | (ignoresCase ? REG_ICASE : 0)
    let status = regcomp(&compiled, pattern, flags)
    guard status == 0 else {
      var words = [CChar](repeating: 0, count: 256)
      regerror(status, &compiled, &words, words.count)
      let reason = String(
        decoding: words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      throw UsageError("--regex \(pattern): \(reason.prefix(1).lowercased() + reason.dropFirst())")
    }
  }

  deinit { regfree(&compiled) }

  /// Whether a text (UTF-8, unescaped, with any NUL) matches.
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    var range = regmatch_t()
    range.rm_so = 0
    range.rm_eo = regoff_t(text.count)
    let base = text.baseAddress?.assumingMemoryBound(to: CChar.self)
    guard let base else {
      return regexec(&compiled, "", 0, nil, 0) == 0
    }
    return regexec(&compiled, base, 1, &range, REG_STARTEND) == 0
  }
}
