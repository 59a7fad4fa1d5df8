import Core

/// Errors of the libraries as people are told of them.
enum ErrorText {
  /// An error in the words of a diagnostic.
  static func of(_ error: any Error) -> String {
    switch error {
    case let error as Failure: error.reason
    case let error as DatabaseError: error.message
    default: "\(error)"
    }
  }
}
