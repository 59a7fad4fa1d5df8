import CLibc
import CUTF8Proc

/// What Unicode calls compatible: the letters, digits and signs that are other ones in another
/// width, shape or place, and what those are (UAX #15).
enum Compatibility {
  static func decomposed(_ text: String) -> String {
    mapped(text, [UTF8PROC_DECOMPOSE, UTF8PROC_COMPAT])
  }

  /// The same text with every letter and its accents as one, where there is one (NFC).
  static func composed(_ text: String) -> String { mapped(text, [UTF8PROC_COMPOSE]) }

  private static func mapped(_ text: String, _ options: [utf8proc_option_t]) -> String {
    let options = utf8proc_option_t(
      rawValue: options.reduce(UTF8PROC_STABLE.rawValue) { $0 | $1.rawValue })
    var text = text
    let mapped = text.withUTF8 { bytes -> String? in
      var result: UnsafeMutablePointer<UInt8>?
      let count = utf8proc_map(bytes.baseAddress, bytes.count, &result, options)
      defer { free(result) }
      guard count > 0 else { return nil }
      return String(
        decoding: UnsafeBufferPointer(start: result, count: count), as: UTF8.self)
    }
    return mapped ?? text
  }
}
