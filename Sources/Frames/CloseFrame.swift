import Core

/// What a close frame says (RFC 6455, sections 5.5.1 and 7.4).
package struct CloseFrame: Equatable, Sendable {
  /// Nil when there is none.
  package var code: UInt16?
  /// For people; empty for none.
  package var reason = ""

  /// Reads the payload of a frame.
  ///
  /// - Throws: `FrameFault` for half a code, one that must not be sent, a reason that is
  ///   no UTF-8.
  package init(_ payload: [UInt8]) throws(FrameFault) {
    if payload.isEmpty { return }
    if payload.count == 1 { throw FrameFault(.protocolError, "half a close code", isOfClose: true) }
    let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
    guard Self.maySend(code) else {
      throw FrameFault(
        .protocolError, "close code \(code), which must not be sent", isOfClose: true)
    }
    let words = Array(payload[2...])
    guard words.withUnsafeBytes(UTF8Text.isValid) else {
      throw FrameFault(.invalidText, "a close reason that is not UTF-8", isOfClose: true)
    }
    self.code = code
    reason = String(decoding: words, as: UTF8.self)
  }

  /// The payload of a frame.
  ///
  /// - Parameter reason: for people; what is over 123 bytes is cut off between characters.
  package static func payload(_ code: UInt16, _ reason: String) -> [UInt8] {
    var words = Array(reason.utf8.prefix(123))
    while !words.withUnsafeBytes(UTF8Text.isValid) { words.removeLast() }
    return [UInt8(code >> 8), UInt8(code & 255)] + words
  }

  /// Whether a code may stand in a frame: those that are defined, also since (IANA's
  /// registry), and those for libraries and for private use.
  package static func maySend(_ code: UInt16) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}

/// A breach of the protocol by the other side, which fails the connection.
package struct FrameFault: Error, Equatable {
  /// What the connection is closed with (RFC 6455, section 7.4.1).
  package enum Code: UInt16 {
    case protocolError = 1002
    case invalidText = 1007
    case tooLarge = 1009
  }

  package let code: UInt16
  /// One line: `a masked frame`.
  package let reason: String
  /// Whether it is one of a close frame, behind which nothing comes.
  package let isOfClose: Bool

  package init(_ code: Code, _ reason: String, isOfClose: Bool = false) {
    self.code = code.rawValue
    (self.reason, self.isOfClose) = (reason, isOfClose)
  }
}
