import CLibc
import Core
import Frames

@testable import Web

/// The other side of a WebSocket, on this thread: the client never blocks, so that both
/// can take turns.
final class SocketPeer {
  private let listener: Int32
  private var connection: Int32 = -1
  /// What came behind the request.
  private(set) var received: [UInt8] = []
  let address: WebAddress

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutableBytes(of: &place) { bytes in
      let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
      _ = bind(listener, address, size)
      getsockname(listener, address, &size)
    }
    listen(listener, 8)
    address = try WebAddress(socket: "ws://127.0.0.1:\(UInt16(bigEndian: place.sin_port))/")
  }

  deinit {
    close(listener)
    hangUp()
  }

  /// Takes a connection and makes a WebSocket of it.
  ///
  /// - Parameters:
  ///   - client: has its turns meanwhile.
  ///   - more: bytes that come with the answer.
  func accept(_ client: WebClient, with more: [UInt8] = []) {
    while !isReadable(listener) { turn(client) }
    connection = CLibc.accept(listener, nil, nil)
    var head = ""
    while !head.hasSuffix("\r\n\r\n") {
      turn(client)
      while isReadable(connection) {
        var byte: UInt8 = 0
        guard read(connection, &byte, 1) == 1 else { return }
        head.unicodeScalars.append(Unicode.Scalar(byte))
        if head.hasSuffix("\r\n\r\n") { break }
      }
    }
    let name = "Sec-WebSocket-Key: "
    let key = head.split(separator: "\r\n").first { $0.hasPrefix(name) }?.dropFirst(name.count)
    let digest = HandshakeKey.accept(key.map(String.init) ?? "")
    send(
      Array(
        ("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          + "Sec-WebSocket-Accept: \(digest)\r\n\r\n").utf8) + more)
  }

  /// Sends bytes that fit into what the kernel keeps.
  func send(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
  }

  /// Lets the client work, and reads what it sent, until something is so.
  func wait(_ client: WebClient, turns: Int = 2000, until isSo: () -> Bool) -> Bool {
    for _ in 0..<turns {
      if isSo() { return true }
      turn(client)
      take()
    }
    return false
  }

  /// Whether something is not so after some turns, in which it could have become so.
  func isQuiet(_ client: WebClient, until isSo: () -> Bool) -> Bool {
    !wait(client, turns: 20, until: isSo)
  }

  /// Reads what is there.
  func take() {
    while connection >= 0, isReadable(connection) {
      var buffer = [UInt8](repeating: 0, count: 65536)
      let count = read(connection, &buffer, buffer.count)
      if count <= 0 { return }
      received += buffer[..<count]
    }
  }

  /// Ends the connection.
  func hangUp() {
    if connection >= 0 { close(connection) }
    connection = -1
  }

  private func turn(_ client: WebClient) {
    client.perform()
    client.wait(seconds: 0.005, [])
  }

  private func isReadable(_ file: Int32) -> Bool {
    var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }
}

/// The payload of the first frame of a client, and the rest behind it.
func unmasked(_ bytes: [UInt8]) -> (first: UInt8, payload: [UInt8], rest: [UInt8])? {
  guard bytes.count >= 6, bytes[1] & 0x80 != 0, bytes[1] & 0x7f < 126 else { return nil }
  let count = Int(bytes[1] & 0x7f)
  guard bytes.count >= 6 + count else { return nil }
  let mask = bytes[2..<6]
  let payload = (0..<count).map { bytes[6 + $0] ^ mask[mask.startIndex + $0 % 4] }
  return (bytes[0], payload, Array(bytes[(6 + count)...]))
}
