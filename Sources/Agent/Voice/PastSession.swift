package import Core

/// A voice session that has ended.
package struct PastSession: Sendable {
  /// As it came, on one line.
  package let bytes: [UInt8]
  package let id: String?, guild: String?, mode: String?, reason: String?
  package let startedAt: Timestamp?, endedAt: Timestamp?
  package let seconds: Double?
}
