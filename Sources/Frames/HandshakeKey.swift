import CCrypto
import Core

/// The key of a handshake (RFC 6455, section 4.2.2).
package enum HandshakeKey {
  /// What a server answers to it, so that the client knows that it was understood.
  package static func accept(_ key: String) -> String {
    let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    var count: UInt32 = 20
    EVP_Digest(text, text.count, &digest, &count, EVP_sha1(), nil)
    return Base64.text(digest)
  }
}
