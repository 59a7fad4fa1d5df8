import Core

/// The body of a request as an object (Agent/Clanky/CONTRACT.md 1.2): what says that it is JSON
/// must be, a form is read as one, and a body of any other type has no members.
struct RequestObject {
  private let json: [UInt8]

  /// - Parameters:
  ///   - body: the body.
  ///   - type: its content type.
  /// - Returns: nil for JSON that is none.
  init?(_ body: [UInt8], type: String) {
    let type = type.lowercased()
    if type.contains("application/json") {
      let body = body.withUnsafeBytes { UTF8Text.isValid($0) ? body : UTF8Text.repaired($0) }
      guard body.isEmpty || body.withUnsafeBytes(ScanValidator.isValue) else { return nil }
      json = body
    } else if type.contains("application/x-www-form-urlencoded") {
      json = Array(QueryParameters(String(decoding: body, as: UTF8.self)).json.utf8)
    } else {
      json = []
    }
  }

  /// Gives the members to `body`, which they must not leave.
  func members<Result, Failure: Error>(
    _ body: (ScanObject) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // withUnsafeBytes forgets the type of the error.
    let result: Swift.Result<Result, Failure> = json.withUnsafeBytes { bytes in
      do throws(Failure) {
        return .success(try body(ScanObject(bytes) ?? ScanObject()))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

extension QueryParameters {
  /// The parameters as a JSON object of texts.
  var json: String {
    let members = pairs.map { "\(JSONText.quoted($0.name)):\(JSONText.quoted($0.value))" }
    return "{\(members.joined(separator: ","))}"
  }
}
