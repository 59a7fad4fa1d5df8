import Core

/// What `--strict` asks of a line besides: well-formed UTF-8 and the whole
/// grammar of RFC 8259, of every value at any depth.
enum StrictFault {
  /// Why a line is bad and at which byte, counted from 1; nil when it is not,
  /// or is empty.
  ///
  /// - Parameters:
  ///   - line: the line without a byte order mark.
  ///   - skipped: how many bytes of the line stand before these.
  static func reason(_ line: UnsafeRawBufferPointer, skipped: Int) -> String? {
    if let offset = UTF8Text.firstFault(line) {
      return "invalid UTF-8 at byte \(skipped + offset + 1)"
    }
    guard let (fault, offset) = ScanValidator.firstFault(line), fault != .empty else { return nil }
    return "\(fault.reason) at byte \(skipped + offset + 1)"
  }
}
