import CLibc
import Core

/// A text that the content is to hold, compared by bytes after the content's
/// escapes are decoded, or by Unicode simple folding.
final class TextSearch {
  private let needle: [UInt8]
  private let folding: CaseFolding?
  private let folded = ScanScratch()

  /// - Parameters:
  ///   - text: what is looked for; the empty text is in every content.
  ///   - ignoresCase: whether upper and lower case are the same.
  init(_ text: String, ignoresCase: Bool) {
    let bytes = Array(text.utf8)
    if ignoresCase {
      let folding = CaseFolding()
      let scratch = ScanScratch()
      needle = bytes.withUnsafeBytes { bytes in
        withExtendedLifetime(scratch) { Array(folding.fold(bytes, scratch)) }
      }
      self.folding = folding
    } else {
      needle = bytes
      folding = nil
    }
  }

  /// Whether a text (UTF-8, unescaped) holds the needle.
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    guard !needle.isEmpty else { return true }
    guard let base = text.baseAddress else { return false }
    if let folding {
      let plain = folding.fold(text, folded)
      return clibc_memmem(plain.baseAddress, plain.count, needle, needle.count) != nil
    }
    return clibc_memmem(base, text.count, needle, needle.count) != nil
  }
}
