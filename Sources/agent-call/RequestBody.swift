import Agent
import CLibc
import Core

enum RequestBody {
  /// Nil when there is nothing to send.
  static func read(_ data: String?, readsInput: Bool) throws(Failure) -> [UInt8]? {
    let body: [UInt8]
    var name = "--data"
    if let data, !data.hasPrefix("@") {
      body = FileName.bytes(data)
    } else if let data {
      name = String(data.dropFirst())
      body = try contents(name)
    } else if readsInput {
      if isatty(0) == 1 {
        throw Failure("standard input", "a terminal; give the JSON with --data", .failure)
      }
      name = "-"
      body = try contents(name)
    } else {
      return nil
    }
    if name == "-" { name = "standard input" }
    if body.isEmpty { return body }
    if let (fault, offset) = body.withUnsafeBytes({ ScanValidator.firstFault($0) }) {
      throw Failure(name, "not JSON: \(fault.reason) at byte \(offset)", .failure)
    }
    return body
  }

  private static func contents(_ name: String) throws(Failure) -> [UInt8] {
    return try BoundedFile.text(name)
  }
}
