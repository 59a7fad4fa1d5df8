import Core

/// The commands that redis-cli reads, and the lines that it prints with --json: a JSON value
/// for each reply, or `error:` and a string.
enum RedisText {
  static let health = [
    "PING", "XLEN joelclaw:gateway:messages", "XLEN joelclaw:queue:events",
    "GET joelclaw:mode", "EXISTS system:sleep",
  ]
  private static let loopPrefix = "agent-loop:prd:"

  static func loops(from cursor: String) -> [String] {
    ["SCAN \(quoted(cursor)) MATCH \(loopPrefix)* COUNT 1000"]
  }

  static func values(of keys: [String]) -> [String] {
    ["MGET " + keys.map(quoted).joined(separator: " ")]
  }

  static func loop(_ key: String) -> String? {
    key.hasPrefix(loopPrefix) ? String(key.dropFirst(loopPrefix.count)) : nil
  }

  static func quoted(_ word: String) -> String {
    let digits = Array("0123456789abcdef")
    var text = "\""
    for byte in word.utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, 0x2d, 0x2e, 0x3a, 0x5f:
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += "\\x\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
    return text + "\""
  }

  static func isRefusal(_ reason: String) -> Bool {
    ["NOAUTH", "WRONGPASS", "NOPERM"].contains { reason.hasPrefix($0) }
  }

  enum Reply {
    case value(JSONValue)
    case error(String)
  }

  /// Those to commands; before them stands what came of the password and the database number.
  static func replies(_ output: [UInt8], to count: Int) -> [Reply]? {
    let lines = output.split(separator: 10).map(reply)
    for case .error(let reason) in lines.count < count ? lines[...] : lines.dropLast(count) {
      return [.error(reason)]
    }
    return lines.count < count ? nil : Array(lines.suffix(count))
  }

  private static func reply(_ line: ArraySlice<UInt8>) -> Reply {
    let isError = line.starts(with: Array("error:".utf8))
    // Keys and values are bytes of any kind.
    let text = (isError ? line.dropFirst(6) : line).withUnsafeBytes { UTF8Text.repaired($0) }
    let value = try? JSONValue.parse(text)
    if isError { return .error(value?.string ?? String(decoding: text, as: UTF8.self)) }
    guard let value else {
      return .error("not JSON: \(String(decoding: text.prefix(200), as: UTF8.self))")
    }
    return .value(value)
  }
}
