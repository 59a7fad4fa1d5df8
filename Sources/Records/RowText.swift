public import Core

/// The forms that one record takes in a pipe.
public enum RowText {
  /// The record's own bytes on one line: line breaks between its tokens become
  /// blanks, and ill-formed UTF-8 U+FFFD; nothing else changes.
  ///
  /// - Parameter row: one JSON value that is valid but for its UTF-8.
  public static func line(_ row: [UInt8]) -> [UInt8] {
    var bytes = UTF8Text.repaired(row)
    // Inside its strings valid JSON has none.
    if bytes.contains(where: { $0 == 10 || $0 == 13 }) {
      bytes = bytes.map { $0 == 10 || $0 == 13 ? 32 : $0 }
    }
    let text = bytes.trimming(\.isBlank)
    return text.count == bytes.count ? bytes : Array(text)
  }

  /// The values of some members with tabs between them: text without its quotes
  /// and escapes, numbers as the backend spelled them, arrays and objects as
  /// JSON; nothing for null and what is missing.
  ///
  /// - Parameters:
  ///   - row: one JSON value; what is not an object is a single value.
  ///   - fields: the members' names, of which `threadId` stands for `thread_id`, too.
  public static func tsv(_ row: [UInt8], fields: [String]) -> String {
    let row = line(row)
    return row.withUnsafeBytes { bytes in
      guard var members = try? ScanMembers(bytes) else { return field(ScanValue(bytes)) }
      var values: [String: String] = [:]
      do throws(ScanFault) {
        while try members.next() { values[members.key.unescaped] = field(members.value) }
      } catch {
        return field(ScanValue(bytes))
      }
      return fields.map { values[$0] ?? values[snake($0)] ?? "" }.joined(separator: "\t")
    }
  }

  /// The other spelling of a member: a backend may send `threadId` or `thread_id`.
  private static func snake(_ name: String) -> String {
    name.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
  }

  /// One value as a field of TSV.
  public static func field(_ value: ScanValue) -> String {
    if value.isNull { return "" }
    return escape(value.string ?? String(decoding: value.bytes, as: UTF8.self))
  }

  /// A text as a field: backslash, tab and line ends as `\\`, `\t`, `\n`, `\r`,
  /// other controls as `\e`, `\xHH` or `\u{HHHH}`.
  public static func escape(_ text: String) -> String {
    Visible.line(text.utf8.contains(92) ? text.exchanging("\\", for: "\\\\") : text)
  }
}

/// The values of a record with their places: `runtime.isReady`, `true`.
public enum Leaves {
  /// Objects below this are shown as JSON.
  private static let deepest = 16

  /// The leaves in the order of the text: members of objects in objects have
  /// their names joined by dots, arrays are leaves.
  ///
  /// - Parameter record: a JSON value; one that is not an object is a leaf without
  ///   a name.
  /// - Returns: text without quotes and escapes, numbers as they are spelled,
  ///   arrays as JSON, nothing for null.
  public static func of(_ record: [UInt8]) -> [(name: String, text: String)] {
    var leaves: [(name: String, text: String)] = []
    record.withUnsafeBytes { add(ScanValue($0), name: "", depth: 0, to: &leaves) }
    return leaves
  }

  private static func add(
    _ value: ScanValue, name: String, depth: Int, to leaves: inout [(name: String, text: String)]
  ) {
    guard value.isObject, depth < deepest, var members = try? ScanMembers(value.bytes) else {
      let text =
        value.isNull ? "" : value.string ?? String(decoding: value.bytes, as: UTF8.self)
      leaves.append((name, text))
      return
    }
    let prefix = name.isEmpty ? "" : name + "."
    while (try? members.next()) == true {
      add(members.value, name: prefix + members.key.unescaped, depth: depth + 1, to: &leaves)
    }
  }
}
