import CLibc
import CSSH2
import Core

/// A libssh2 session over a wire. Nothing of it blocks: what cannot go on returns
/// `LIBSSH2_ERROR_EAGAIN` and is called again with the same arguments.
final class SSH2Session {
  /// libssh2's own; for `SSH2Handle` alone.
  let pointer: OpaquePointer
  let wire: SSH2Wire
  let offer: KeyExchangeOffer

  private static let isUsable = libssh2_init(0) == 0

  /// Nil when libssh2 has no memory, or none of the algorithms.
  init?(wire: SSH2Wire, hostKeyTypes: [String]) {
    let unowned = Unmanaged.passUnretained(wire).toOpaque()
    guard Self.isUsable, let pointer = libssh2_session_init_ex(nil, nil, nil, unowned) else {
      return nil
    }
    self.pointer = pointer
    self.wire = wire
    libssh2_session_set_blocking(pointer, 0)
    let offer = SSH2Algorithms.offer(knownHostKeyTypes: hostKeyTypes) { method in
      Self.supported(method, by: pointer)
    }
    self.offer = offer
    setCallbacks()
    for (kind, names) in zip(KeyExchangeOffer.kinds, offer.lists) {
      let list = names.joined(separator: ",")
      guard !names.isEmpty, libssh2_session_method_pref(pointer, kind.method, list) == 0 else {
        return nil
      }
    }
  }

  deinit {
    // Without the network, or it would wait for answers.
    wire.seal()
    if !isBroken { libssh2_session_free(pointer) }
  }

  /// libssh2 stopped in the middle of something: nothing of it may be used any more.
  private var isBroken = false

  /// Calls libssh2 for something that may read from the connection. With a packet whose
  /// length was changed on the way it (1.10) fails an assertion.
  @discardableResult
  func ask(_ body: @escaping () -> Int) -> Int {
    if wire.isDamaged { return Int(LIBSSH2_ERROR_DECRYPT) }
    let call = Call(body)
    let isWhole = clibc_attempt(
      { context in
        guard let context else { return }
        let call = Unmanaged<Call>.fromOpaque(context).takeUnretainedValue()
        call.result = call.body()
      }, Unmanaged.passUnretained(call).toOpaque())
    if isWhole { return call.result }
    isBroken = true
    wire.spoil()
    return Int(LIBSSH2_ERROR_DECRYPT)
  }

  @discardableResult
  func ask(_ body: @escaping () -> Int32) -> Int32 {
    Int32(truncatingIfNeeded: ask { () -> Int in Int(body()) })
  }

  private final class Call {
    let body: () -> Int
    var result = Int(LIBSSH2_ERROR_DECRYPT)
    init(_ body: @escaping () -> Int) { self.body = body }
  }

  /// Versions, keys, the first service: `LIBSSH2_ERROR_EAGAIN`, 0 or an error.
  func handshake() -> Int32 {
    ask { [pointer, socket = wire.descriptor] in libssh2_session_handshake(pointer, socket) }
  }

  /// The key that the host has proved to own; after the handshake.
  var hostKey: [UInt8]? {
    var count = 0
    var type: Int32 = 0
    guard let bytes = libssh2_session_hostkey(pointer, &count, &type), count > 0 else { return nil }
    return UnsafeRawBufferPointer(start: bytes, count: count).map { $0 }
  }

  var agreement: String {
    [LIBSSH2_METHOD_KEX, LIBSSH2_METHOD_HOSTKEY, LIBSSH2_METHOD_CRYPT_CS, LIBSSH2_METHOD_MAC_CS]
      .compactMap { libssh2_session_methods(pointer, $0).map { String(cString: $0) } }
      .joined(separator: ", ")
  }

  var banner: String? { libssh2_session_banner_get(pointer).map { String(cString: $0) } }

  var lastError: Int32 { libssh2_session_last_errno(pointer) }

  /// libssh2's words for the last error, lower case.
  var lastReason: String {
    var text: UnsafeMutablePointer<CChar>?
    var count: Int32 = 0
    libssh2_session_last_error(pointer, &text, &count, 0)
    let words = text.map { String(cString: $0) } ?? ""
    return words.isEmpty ? "protocol error" : words.lowercasedFirst
  }

  /// Takes leave of the host, as far as that goes without waiting.
  func disconnect() {
    ask { [pointer] in
      libssh2_session_disconnect_ex(pointer, SSH_DISCONNECT_BY_APPLICATION, "bye", "")
    }
    wire.flush()
  }

  /// libssh2 sends nothing when it has sent a question less than two seconds ago.
  func keepAlive() {
    libssh2_keepalive_config(pointer, 1, 1)
    ask { [pointer] in
      var next: Int32 = 0
      return libssh2_keepalive_send(pointer, &next)
    }
  }

  // MARK: Signing in

  /// `LIBSSH2_ERROR_EAGAIN`, 0 or an error; an empty passphrase, as libssh2 follows a null pointer.
  func signIn(_ user: String, key: SecretBytes, passphrase: SecretBytes) -> Int32 {
    ask { [pointer] in
      libssh2_userauth_publickey_frommemory(
        pointer, user, user.utf8.count, nil, 0, key.text, key.count, passphrase.text)
    }
  }

  /// The same numbers; `sign` gives the signature of some bytes, nil gives the try up.
  func signIn(
    _ user: String, blob: [UInt8], sign: @escaping (UnsafeRawBufferPointer) -> [UInt8]?
  ) -> Int32 {
    let signer = Signer(sign)
    return ask { [pointer] in
      var context: UnsafeMutableRawPointer? = Unmanaged.passUnretained(signer).toOpaque()
      return libssh2_userauth_publickey(
        pointer, user, blob, blob.count,
        { _, signature, count, data, length, abstract in
          guard let signature, let count, let data, let signer = abstract?.pointee else {
            return -1
          }
          let answer = Unmanaged<Signer>.fromOpaque(signer).takeUnretainedValue().sign(
            UnsafeRawBufferPointer(start: data, count: length))
          // libssh2 frees it.
          guard let answer, let copy = malloc(max(1, answer.count)) else { return -1 }
          answer.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { _ = memcpy(copy, base, bytes.count) }
          }
          signature.pointee = copy.assumingMemoryBound(to: UInt8.self)
          count.pointee = answer.count
          return 0
        }, &context)
    }
  }

  private final class Signer {
    let sign: (UnsafeRawBufferPointer) -> [UInt8]?
    init(_ sign: @escaping (UnsafeRawBufferPointer) -> [UInt8]?) { self.sign = sign }
  }

  /// How the host lets somebody in, which it may do at once (`isSignedIn`); nil without an answer.
  func ways(of user: String) -> String? {
    let place = ask { [pointer] in
      Int(bitPattern: libssh2_userauth_list(pointer, user, UInt32(user.utf8.count)))
    }
    guard !wire.isDamaged, let list = UnsafePointer<CChar>(bitPattern: place) else { return nil }
    return String(cString: list)
  }

  var isSignedIn: Bool { libssh2_userauth_authenticated(pointer) != 0 }

  // MARK: Calls of libssh2's

  private func setCallbacks() {
    cssh2_callbacks(
      pointer,
      { socket, bytes, count, _, abstract in
        guard let wire = SSH2Wire.of(abstract, socket), let bytes else { return Int(-EBADF) }
        return wire.send(UnsafeRawBufferPointer(start: bytes, count: count))
      },
      { socket, bytes, count, _, abstract in
        guard let wire = SSH2Wire.of(abstract, socket), let bytes else { return Int(-EBADF) }
        return wire.receive(UnsafeMutableRawBufferPointer(start: bytes, count: count))
      },
      { _, reason, message, count, _, _, abstract in
        guard let wire = SSH2Wire.of(abstract, nil) else { return }
        let bytes = UnsafeRawBufferPointer(start: message, count: min(Int(count), 256))
        wire.farewell = Farewell(
          reason: Int(reason), words: String(decoding: bytes, as: UTF8.self))
      },
      { _, _, _, abstract in
        // libssh2 would drop such a packet, and go on with the next.
        SSH2Wire.of(abstract, nil)?.spoil()
        return -1
      })
  }

  private static func supported(_ method: Int32, by pointer: OpaquePointer) -> [String] {
    var names: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    let count = libssh2_session_supported_algs(pointer, method, &names)
    guard count > 0, let names else { return [] }
    defer { libssh2_free(pointer, names) }
    return (0..<Int(count)).compactMap { names[$0].map { String(cString: $0) } }
  }
}

extension SSH2Wire {
  /// The wire that a callback is about; nil for a socket that is not its own.
  fileprivate static func of(
    _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ socket: Int32?
  ) -> SSH2Wire? {
    guard let pointer = abstract?.pointee else { return nil }
    let wire = Unmanaged<SSH2Wire>.fromOpaque(pointer).takeUnretainedValue()
    return socket.map { $0 == wire.descriptor } ?? true ? wire : nil
  }
}
