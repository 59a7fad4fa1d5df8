import Core
import Records
import Web

extension ActionPages {
  /// A row and what decides its place.
  public struct Row {
    /// As it came.
    public let bytes: [UInt8]
    /// The id as text; empty when there is none.
    public private(set) var id = ""
    /// Nil when it has no time that can be read: such a row does not wait.
    public private(set) var time: Timestamp?
    /// Empty when there is none.
    public private(set) var kind = ""
    /// Empty when there is none.
    public private(set) var guild = ""

    /// - Parameter bytes: a row as it came, an action or not.
    public init(_ bytes: [UInt8]) {
      self.bytes = bytes
      let found = bytes.withUnsafeBytes { bytes -> (String, Timestamp?, String, String)? in
        guard let fields = try? ActionFields(bytes) else { return nil }
        let time = fields.createdAt.string.flatMap { Timestamp(rfc3339: $0) }
        return (
          fields.id.string ?? "", time, fields.kind.string ?? "", fields.guild.string ?? ""
        )
      }
      guard let found else { return }
      (id, time, kind, guild) = found
    }
  }

  /// What makes two rows the same.
  enum RowKey: Hashable {
    case id(String)
    /// The row itself and its number among equal ones of an answer.
    case bytes([UInt8], Int)
  }
}
