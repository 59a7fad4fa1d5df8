import Foundation

/// The other end of a TCP connection.
struct PeerAddress: Equatable {
  /// The numeric address.
  let host: String
  /// The port.
  let port: UInt16

  /// - Parameter descriptor: any number; nil unless it is a connected socket.
  init?(of descriptor: Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let found = withUnsafeMutableBytes(of: &storage) { bytes -> (port: UInt16, host: String)? in
      let address = bytes.assumingMemoryBound(to: sockaddr.self)
      guard let base = address.baseAddress, getpeername(descriptor, base, &length) == 0 else {
        return nil
      }
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      switch Int32(base.pointee.sa_family) {
      case AF_INET:
        var value = bytes.load(as: sockaddr_in.self)
        inet_ntop(AF_INET, &value.sin_addr, &text, socklen_t(text.count))
        return (UInt16(bigEndian: value.sin_port), Self.string(text))
      case AF_INET6:
        var value = bytes.load(as: sockaddr_in6.self)
        inet_ntop(AF_INET6, &value.sin6_addr, &text, socklen_t(text.count))
        return (UInt16(bigEndian: value.sin6_port), Self.string(text))
      default: return nil
      }
    }
    guard let found else { return nil }
    (port, host) = found
  }

  private static func string(_ text: [CChar]) -> String {
    String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
