import Core
import Shell

/// Somebody who takes files.
protocol Handover: AnyObject {
  /// Looks whether files can be taken now, before the first one is opened.
  ///
  /// - Throws: `HandoverFailure`.
  func begin() throws(HandoverFailure)

  /// Hands one file over.
  ///
  /// - Parameter progress: told how many bytes have gone.
  /// - Throws: `HandoverFailure`; the file stays where it is.
  func hand(_ item: OpenItem, progress: @escaping (Int) -> Void) throws(HandoverFailure) -> Receipt

  /// How many small files, of how many bytes together, are handed over at once; 1 for
  /// one at a time.
  var batch: (count: Int, size: Int) { get }

  /// Hands small files over at once.
  ///
  /// - Throws: `HandoverFailure`. Where it is not for all, each is to be handed over by
  ///   itself, even if it has been taken: that does no harm.
  /// - Returns: one for each.
  func hand(_ items: [OpenItem]) throws(HandoverFailure) -> [Receipt]
}

extension Handover {
  var batch: (count: Int, size: Int) { (1, 0) }

  func hand(_ items: [OpenItem]) throws(HandoverFailure) -> [Receipt] { [] }
}

/// What is known of a file that was taken.
struct Receipt: Equatable {
  /// The tmux session, nil when there is none in it.
  var session: String?
  /// The path at the other end, nil when there is none.
  var remotePath: String?
  /// Whether one of this name with other content had been taken before, and this one
  /// was not.
  var isOther = false
}

/// Why a file was not taken.
struct HandoverFailure: Error {
  /// What is in the way: the host, the session, the command.
  var what: String
  /// One line, not escaped yet.
  var reason: String
  /// What a command returns that could not go on.
  var status: Int32
  /// Whether the next file would meet the same.
  var isForAll: Bool
  /// The warning about a host's key, line by line, else empty.
  var warning: [String] = []
  /// The signal that ends the command.
  var signal: Int32?
  /// Whether a new link may help.
  var isLinkLost = false
}
