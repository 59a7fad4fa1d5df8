import CLibc
import Core

/// A text that the content is to hold, compared by bytes after the content's
/// escapes are decoded, or by Unicode simple folding.
final class TextSearch: Equatable {
  /// What is looked for, folded where case does not matter.
  let needle: [UInt8]
  private let folding: CaseFolding?
  private let folded = ScanScratch()
  /// Finds what a content with the text has, before its escapes are decoded;
  /// nil where there is no such thing.
  private var traces: LiteralSearch?

  private static let piece = 16 * 1024

  init(_ text: String, ignoresCase: Bool) {
    let bytes = Array(text.utf8)
    folding = ignoresCase ? CaseFolding() : nil
    needle = folding?.fold(bytes) ?? bytes
    traces = literal.map { LiteralSearch([$0]) }
  }

  static func == (one: TextSearch, other: TextSearch) -> Bool { one === other }

  /// False when no text of these bytes can hold the needle: a quick look at what
  /// stands between the quotes of a string, escapes and all.
  func mayMatch(_ raw: UnsafeRawBufferPointer) -> Bool {
    traces.map { $0.find(raw) != nil } ?? true
  }

  var ignoresCase: Bool { folding != nil }

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
