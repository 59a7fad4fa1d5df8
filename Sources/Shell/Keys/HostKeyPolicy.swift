import Core

/// What is to be done with a key that a host shows: the one place where trust is
/// decided for the libssh2 transport. The same files are given to OpenSSH.
public struct HostKeyPolicy: Sendable {
  /// What became of a key.
  public enum Verdict: Equatable, Sendable {
    /// It is the pinned one, or OpenSSH's file vouches for it.
    case known
    /// The host has no pin yet: pin it with `pin`, and tell its fingerprint.
    case new(fingerprint: String)
    /// It is another one than the pinned one, or revoked: stop before any byte of
    /// authentication.
    case refused(Ending)
  }
}
