import Core

/// The values of a record with their places: `runtime.isReady`, `true`.
public enum Leaves {
  /// Objects below this are shown as JSON.
  private static let deepest = 16

  /// The leaves in the order of the text: members of objects in objects have
  /// their names joined by dots, arrays are leaves.
  ///
  /// - Parameter record: a JSON value; one that is no object is a leaf without
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
