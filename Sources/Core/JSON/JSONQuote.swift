/// JSON strings for the records that we make (RFC 8259, section 7).
public enum JSONQuote {
  /// Adds a JSON string with its quotes. Ill-formed UTF-8 becomes U+FFFD; what
  /// is never shown (see `Visible.mustEscape`) is escaped.
  public static func append(_ bytes: UnsafeRawBufferPointer, to out: inout ByteBuffer) {
    out.append(34)
    var at = 0
    while at < bytes.count {
      let start = at
      while at < bytes.count, isPlain(bytes[at]) { at += 1 }
      out.append(UnsafeRawBufferPointer(rebasing: bytes[start..<at]))
      if at == bytes.count { break }
      if bytes[at] < 0x80 {
        append(Unicode.Scalar(bytes[at]), to: &out)
        at += 1
        continue
      }
      // No part of such a run belongs to what stands beside it.
      let run = at
      while at < bytes.count, bytes[at] >= 0x80 { at += 1 }
      for scalar in String(decoding: bytes[run..<at], as: UTF8.self).unicodeScalars {
        append(scalar, to: &out)
      }
    }
    out.append(34)
  }

  /// Adds a JSON string with its quotes, from text.
  public static func append(_ text: String, to out: inout ByteBuffer) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0), to: &out) }
  }

  /// A JSON string with its quotes.
  public static func string(_ text: String) -> String {
    var out = ByteBuffer()
    append(text, to: &out)
    return String(decoding: out.bytes, as: UTF8.self)
  }

  /// Adds a JSON text as it is, but with what a person cannot be shown (see
  /// `VisibleScalars`) escaped inside its strings, and blanks for the tabs and carriage returns
  /// between them: the same value, safe to show.
  ///
  /// - Parameter json: one JSON value, valid UTF-8.
  public static func appendVisible(json: UnsafeRawBufferPointer, to out: inout ByteBuffer) {
    var scalars = VisibleScalars(String(decoding: json, as: UTF8.self))
    while let (scalar, isShown) = scalars.next() {
      // Below U+007F only white space stands in valid JSON unescaped.
      if scalar.value < 0x20 && scalar != "\n" {
        out.append(0x20)
      } else if scalar.value >= 0x7f && !isShown {
        for unit in UTF16.encode(scalar)! { escape(unit, &out) }
      } else {
        for unit in UTF8.encode(scalar)! { out.append(unit) }
      }
    }
  }

  /// Whether a byte is ASCII that stands for itself in a JSON string.
  @inline(__always)
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7f && byte != 34 && byte != 92
  }

  private static func append(_ scalar: Unicode.Scalar, to out: inout ByteBuffer) {
    switch scalar {
    case "\"": escape("\"", &out)
    case "\\": escape("\\", &out)
    case "\n": escape("n", &out)
    case "\r": escape("r", &out)
    case "\t": escape("t", &out)
    default:
      if Visible.mustEscape(scalar) {
        for unit in UTF16.encode(scalar)! { escape(unit, &out) }
      } else {
        for unit in UTF8.encode(scalar)! { out.append(unit) }
      }
    }
  }

  private static func escape(_ letter: Unicode.Scalar, _ out: inout ByteBuffer) {
    out.append(92)
    out.append(UInt8(ascii: letter))
  }

  private static func escape(_ unit: UInt16, _ out: inout ByteBuffer) {
    out.append(92)
    out.append(UInt8(ascii: "u"))
    for shift in [12, 8, 4, 0] {
      let digit = UInt8((unit >> UInt16(shift)) & 15)
      out.append(digit < 10 ? 48 + digit : 87 + digit)
    }
  }
}
