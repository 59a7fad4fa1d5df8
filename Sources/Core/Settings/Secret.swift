/// A token. Printing, interpolating, dumping or reflecting it shows no byte of it.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let value: String
  /// Where it came from, for messages: a file, or `token-command of profile NAME`.
  public let source: String

  public init(_ value: String, source: String = "") {
    (self.value, self.source) = (value, source)
  }

  /// The value itself, for the request's header and nothing else.
  public func reveal() -> String { value }

  /// Never the value.
  public var description: String { "(secret)" }
  /// Never the value.
  public var debugDescription: String { description }
  /// No children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Secret {
  /// What a file or a command gave, as a token: one line feed at the end (or
  /// CR LF) is dropped, the rest must be one line that may stand in a header.
  init(bytes: [UInt8], source: String) throws(Failure) {
    var bytes = bytes[...]
    if bytes.last == 10 {
      bytes.removeLast()
      if bytes.last == 13 { bytes.removeLast() }
    }
    if bytes.isEmpty { throw Failure(source, "empty", .denied) }
    if bytes.contains(10) || bytes.contains(13) {
      throw Failure(source, "more than one line")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(source, "not UTF-8")
    }
    if !Visible.escaped(in: text).isEmpty {
      throw Failure(source, "control or invisible character in the token")
    }
    // A header's value has no blanks at its ends (RFC 9110, 5.5).
    if bytes.first == 0x20 || bytes.last == 0x20 {
      throw Failure(source, "blank before or after the token")
    }
    self.init(text, source: source)
  }
}
