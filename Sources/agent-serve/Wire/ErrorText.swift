import Core
import NIOCore

/// Errors of the libraries as people are told of them.
enum ErrorText {
  /// An error in the words of a diagnostic.
  static func of(_ error: any Error) -> String {
    if let error = error as? IOError { return systemReason(error.errnoCode) }
    if let error = error as? DatabaseError { return error.message }
    return "\(error)"
  }
}

/// NIO's; Core has one of that name, too.
typealias ByteBuffer = NIOCore.ByteBuffer
