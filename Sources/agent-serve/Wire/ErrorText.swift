import Core

enum ErrorText {
  static func of(_ error: any Error) -> String {
    switch error {
    case let error as Failure: error.reason
    case let error as DatabaseError: error.message
    default: "\(error)"
    }
  }
}
