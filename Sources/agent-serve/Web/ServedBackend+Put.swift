import Core

extension ServedBackend {
  /// Stores a document that a request brings.
  ///
  /// - Returns: 200 when it is on the disk; 400 with a reason when it is none.
  /// - Throws: what SQLite says.
  func put(_ document: Document, _ body: [UInt8]) async throws -> WholeAnswer {
    switch document.accept(body) {
    case .success(let bytes):
      try await documents.put(document, bytes)
      return .json(#"{"ok":true}"#)
    case .failure(let fault):
      // The first of the two is what the dashboard says of such a body.
      let error = fault.isUnreadable ? "invalid_json_body" : "invalid_\(document.rawValue)"
      return .json(
        "{\"ok\":false,\"error\":\"\(error)\",\"reason\":\(JSONText.quoted(fault.reason))}",
        status: 400)
    }
  }
}
