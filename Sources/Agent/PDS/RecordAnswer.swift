public import Core

/// What a record must be for a write to take effect.
public enum RecordSwap: Equatable, Sendable {
  /// Anything, or not there.
  case any
  /// Not there.
  case absent
  /// The one of this CID.
  case cid(CID)
}

/// What came of a write.
public enum WriteOutcome {
  /// Done; what the server says of it, one JSON object.
  case done([UInt8])
  /// Nothing was written, because something else is there.
  case conflict(String)
  /// Written, but as another record than was sent.
  case altered(String)
  /// The server does not want it.
  case refused(String, ExitStatus)
}

/// What a server says of one thing.
public enum RecordAnswer {
  /// It is this, one JSON object.
  case found([UInt8])
  /// There is none.
  case absent
  /// The server does not tell; why.
  case refused(String)

  /// Nil for none.
  func value(at place: String) throws(Failure) -> [UInt8]? {
    switch self {
    case .found(let value): return value
    case .absent: return nil
    case .refused(let reason): throw Failure(place, reason, .failure)
    }
  }
}
