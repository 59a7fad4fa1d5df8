import Core

/// A record as a merge sees it: its members in their order, each with its own bytes.
struct MergeSide {
  struct Member {
    /// The name between its quotes, escapes and all.
    let key: [UInt8]
    let value: [UInt8]
  }

  private(set) var names: [String] = []
  /// By the bytes of the name: texts that look alike are two names.
  private var members: [[UInt8]: Member] = [:]
  /// When it was changed, by `updatedAt`; nil where it does not say.
  let updated: Timestamp?

  init(_ record: [UInt8]) {
    var found: [(String, Member)] = []
    record.withUnsafeBytes { bytes in
      guard var scan = try? ScanMembers(bytes) else { return }
      while (try? scan.next()) == true {
        found.append(
          (scan.key.unescaped, Member(key: Array(scan.key.bytes), value: Array(scan.value.bytes))))
      }
    }
    for (name, member) in found
    where members.updateValue(member, forKey: Array(name.utf8)) == nil {
      names.append(name)
    }
    updated = members[Array("updatedAt".utf8)].flatMap { MergeValue.text($0.value) }
      .flatMap { Timestamp(rfc3339: $0) }
  }

  subscript(name: String) -> Member? { members[Array(name.utf8)] }

  /// Whether this side's word counts where both changed something: it is the newer one.
  func isNewer(than other: MergeSide) -> Bool {
    guard let updated else { return false }
    return other.updated.map { $0 < updated } ?? true
  }
}

enum MergeValue {
  /// Whether two values mean the same, however they are spelled.
  static func isSame(_ one: [UInt8]?, _ other: [UInt8]?) -> Bool {
    if one == other { return true }
    guard let one, let other else { return false }
    let trees = [one, other].map { bytes in
      bytes.withUnsafeBytes { try? RecordTree.value(of: $0) }
    }
    guard let first = trees[0], let second = trees[1] else { return false }
    return first.encoded == second.encoded
  }

  static func text(_ value: [UInt8]?) -> String? {
    value?.withUnsafeBytes { bytes in
      let value = ScanValue(bytes)
      return value.isString ? value.string : nil
    }
  }

  static func number(_ value: [UInt8]?) -> Int64? {
    value.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
  }

  static func elements(_ value: [UInt8]?) -> [[UInt8]]? {
    guard let value else { return [] }
    return value.withUnsafeBytes { bytes in
      guard ScanValue(bytes).isArray, var scan = try? ScanElements(bytes) else { return nil }
      var found: [[UInt8]] = []
      while (try? scan.next()) == true { found.append(Array(scan.value.bytes)) }
      return found
    }
  }
}
