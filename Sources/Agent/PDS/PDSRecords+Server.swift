import Core
import Records
import Web

extension PDSRecords {
  /// Makes sure that a server of this protocol answers, and nothing that stands before it.
  ///
  /// - Throws: `CallFailure`, `temporary` for anything else.
  func requireServer() throws(CallFailure) {
    let method = "com.atproto.server.describeServer"
    switch try read(method, []) {
    case .answer(_, let body) where Self.isObject(body): return
    case .answer(let head, _):
      throw CallFailure(place(method), "\(head.summary): the answer is not an object", .temporary)
    // A server of few words has its names for that.
    case .refused(let error) where !error.name.isEmpty: return
    case .refused(let error): throw CallFailure(place(method), error.line, .temporary)
    }
  }

  /// Whether the answer to a deletion says that something was deleted.
  static func hasCommit(_ row: [UInt8]) -> Bool { !commit(of: row).isEmpty }

  static func commit(of body: [UInt8]) -> [UInt8] {
    body.withUnsafeBytes { bytes in
      (try? ScanMembers.value(of: "commit", in: bytes)).map { Array($0.bytes) } ?? []
    }
  }
}
