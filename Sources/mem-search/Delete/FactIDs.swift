import Agent
import CLibc
import Core

/// The ids of facts that a command line or standard input names.
enum FactIDs {
  /// An id of the backend: digits alone.
  ///
  /// - Throws: `CallFailure` for anything else, before anything is asked.
  static func checked(_ text: String) throws(CallFailure) -> String {
    guard isID(text) else { throw CallFailure("fact \(text)", "not a fact's id", .failure) }
    return text
  }

  private static func isID(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 19 && text.utf8.first != 48
      && text.utf8.allSatisfy { $0 &- 48 < 10 }
  }

  /// The ids of operands, each once; `-` stands for those of standard input.
  ///
  /// - Throws: `CallFailure` for what is no id, and for input that cannot be read.
  static func all(_ operands: [String]) throws(CallFailure) -> [String] {
    var ids: [String] = []
    var seen: Set<String> = []
    for operand in operands {
      let found = operand == "-" ? try read() : [try checked(operand)]
      for id in found where seen.insert(id).inserted { ids.append(id) }
    }
    return ids
  }

  /// One a line: bare, the first field of TSV, or the `id` of a record.
  private static func read() throws(CallFailure) -> [String] {
    var reader = LineReader(descriptor: 0)
    var ids: [String] = []
    var number = 0
    while true {
      let line: [UInt8]?
      do {
        line = try reader.next().map { Array($0.bytes) }
      } catch {
        let reason = (error as? ReadFailure)?.reason ?? "cannot be read"
        throw CallFailure("standard input", reason, .failure)
      }
      guard let line else { return ids }
      number += 1
      let text = id(of: line)
      if text.isEmpty { continue }
      guard isID(text) else {
        throw CallFailure("standard input:\(number)", "not a fact's id", .failure)
      }
      ids.append(text)
    }
  }

  /// The id that a line names, empty for an empty line.
  static func id(of line: [UInt8]) -> String {
    if line.first == UInt8(ascii: "{") {
      let value = try? line.withUnsafeBytes { try JSONValue.parse($0) }
      return value?["id"]?.text ?? "?"
    }
    return FactText.folded(String(decoding: line.prefix { $0 != 9 }, as: UTF8.self))
  }
}
