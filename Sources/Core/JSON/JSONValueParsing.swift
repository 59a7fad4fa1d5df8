import CJansson

/// Why a text is no JSON value that can be read.
public struct JSONFault: Error, Equatable, Sendable {
  /// One line without anything of the text itself: `invalid JSON at byte 12`.
  public let reason: String

  /// - Parameter reason: lower case, no full stop.
  public init(_ reason: String) { self.reason = reason }
}

extension JSONValue {
  /// Reads one JSON value (RFC 8259), leniently where a strict reader would
  /// lose a good record:
  /// - invalid UTF-8 becomes U+FFFD, as does the `\u` escape of half a
  ///   surrogate pair, which is what a text cut at so many UTF-16 units ends in;
  /// - `\u0000` is kept in a value and becomes U+FFFD in a name;
  /// - a number too large for 63 bits or for a double becomes a string of its
  ///   digits, so that an id stays exact.
  ///
  /// - Parameter bytes: the whole value, white space around it allowed.
  /// - Throws: `JSONFault`; nesting beyond jansson's 2048 levels is one.
  public static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) -> JSONValue {
    var fault = json_error_t()
    if let root = load(bytes, &fault) { return JSONValue(tree: Tree(owning: root)) }
    let code = json_error_code(&fault)
    let position = Int(fault.position)
    guard code != json_error_stack_overflow, code != json_error_out_of_memory else {
      throw JSONFault(code == json_error_stack_overflow ? "nested too deep" : "out of memory")
    }
    if let repaired = repair(bytes) {
      if let root = repaired.withUnsafeBytes({ load($0, &fault) }) {
        return JSONValue(tree: Tree(owning: root))
      }
      if json_error_code(&fault) == json_error_stack_overflow { throw JSONFault("nested too deep") }
    }
    throw JSONFault(
      code == json_error_premature_end_of_input
        ? "unfinished JSON" : "invalid JSON at byte \(max(position, 1))")
  }

  /// Reads a text, see `parse(_:)`.
  public static func parse(text: String) throws(JSONFault) -> JSONValue {
    let bytes = Array(text.utf8)
    let result: Result<JSONValue, JSONFault> = bytes.withUnsafeBytes { pointer in
      do throws(JSONFault) { return .success(try parse(pointer)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private static func load(
    _ bytes: UnsafeRawBufferPointer, _ fault: inout json_error_t
  ) -> UnsafeMutablePointer<json_t>? {
    let flags = Int(JSON_DECODE_ANY) | Int(JSON_ALLOW_NUL)
    // An empty buffer has no address, and jansson refuses a null pointer.
    guard let start = bytes.baseAddress else { return json_loadb("", 0, flags, &fault) }
    return json_loadb(start.assumingMemoryBound(to: CChar.self), bytes.count, flags, &fault)
  }
}
