import CCurl
import CLibc
import Core

/// What a transfer's owner does with a piece of the body.
public enum BodyFlow {
  /// It was taken.
  case taken
  /// It was not taken: hand it over again after `Transfer.resume`.
  case pause
  /// End the transfer.
  case stop
}

/// One HTTP exchange, without redirects, on a libcurl easy handle.
///
/// Created, driven and ended through `WebClient`; all calls come from its
/// `perform`, on the caller's thread.
public final class Transfer {
  let handle: UnsafeMutableRawPointer
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  private var head: ResponseHead?
  private var headIsFinal = false
  private var stopped = false

  private var onSend: (() -> Bool)?
  private unowned let owner: Exchange
  private let client: WebClient
  private let request: Request
  private var fault: Failure?
  /// Why the certificate is not trusted, while it is looked at.
  private var mistrust: String?

  /// - Parameters:
  ///   - owner: is told the final head, each piece of the decoded body, and the end, once.
  ///   - request: what to ask; its headers are sent as they are.
  ///   - client: drives it.
  /// - Returns: nil when libcurl has no memory.
  init?(_ owner: Exchange, _ request: Request, _ client: WebClient) {
    WebClient.initialize()
    guard let handle = curl_easy_init() else { return nil }
    (self.owner, self.handle, self.client, self.request) = (owner, handle, client, request)
    errorText.pointee = 0
    Self.setConnection(handle, request, client, errorText: errorText)
    configure()
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(headerList)
    errorText.deallocate()
  }

  /// Bytes received so far, head and body as they came over the wire.
  var received: Int64 {
    Int64(ccurl_get_offset(handle, CURLINFO_SIZE_DOWNLOAD_T))
      + Int64(ccurl_get_long(handle, CURLINFO_HEADER_SIZE))
  }

  /// Looks at the certificate and asks the owner before a byte is sent; whether it will: libcurl
  /// before 7.80 cannot.
  func asks(_ onSend: (() -> Bool)?) -> Bool {
    self.onSend = onSend
    let code = ccurl_set_send_callback(
      handle,
      { context, host, ownHost, port, ownPort in
        guard let context else { return 1 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        let hosts = [host, ownHost].map { $0.map { String(cString: $0) } ?? "" }
        return transfer.maySend(on: "\(hosts[0]) \(port) \(hosts[1]) \(ownPort)") ? 0 : 1
      }, Unmanaged.passUnretained(self).toOpaque())
    return code == CURLE_OK
  }

  /// - Parameter connection: its two ends.
  private func maySend(on connection: String) -> Bool {
    if mistrust != nil { return true }
    if case .certificate = request.trust {
      // A connection that is used again shows no certificate.
      let found = ServerTrust.fingerprint(handle) ?? client.certificates[connection]
      client.certificates[connection] = found
      fault = request.trust.fault(of: found, at: request.address)
      if fault != nil {
        closesConnection()
        return false
      }
    }
    stopped = onSend?() == false
    return !stopped
  }

  func resume() { curl_easy_pause(handle, CURLPAUSE_CONT) }

  /// Has the connection closed with the end of the transfer: one of HTTP/2 outlives it otherwise.
  func closesConnection() { ccurl_set_long(handle, CURLOPT_FORBID_REUSE, 1) }

  /// Takes no connection that was made before a time, seconds of `Clock.monotonic`.
  func distrusts(connectionsBefore time: Double) {
    // libcurl counts whole seconds, and takes a connection that is as old as that.
    let age = Int(Clock.monotonic - time) - 1
    if age < 1 {
      ccurl_set_long(handle, CURLOPT_FRESH_CONNECT, 1)
    } else {
      ccurl_set_oldest(handle, age)
    }
  }

  static func reason(_ code: CURLcode, _ errorText: UnsafeMutablePointer<CChar>) -> String {
    let detail = String(cString: errorText)
    let text = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    return text.lowercasedFirst
  }

  /// Whether it failed for what the other end is: its certificate is not trusted, or it does not
  /// speak TLS at all.
  private(set) var isMistrusted = false

  private static func isMistrusted(_ code: CURLcode, _ reason: String) -> Bool {
    switch code {
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR: true
    // A handshake may also be cut short. These are the words of OpenSSL and GnuTLS for plain text.
    case CURLE_SSL_CONNECT_ERROR:
      ["wrong version number", "unexpected tls packet", "packet length too long"].contains {
        reason.lowercased().holds($0)
      }
    default: false
    }
  }

  func finish(_ code: CURLcode) {
    if let mistrust {
      isMistrusted = true
      owner.transferred(.network(mistrust + ServerTrust.hint(ServerTrust.fingerprint(handle))))
    } else if let fault {
      owner.transferred(.unusable(fault))
    } else if stopped {
      owner.transferred(.stopped)
    } else if code == CURLE_OK {
      owner.transferred(.complete)
    } else if code == CURLE_BAD_CONTENT_ENCODING || code == CURLE_WRITE_ERROR {
      // We take all that is written, unless we stop: what fails to write is a decoder.
      let words = "the encoding of the answer cannot be read\(owner.encoding)"
      owner.transferred(.unusable(Failure(words, .failure)))
    } else if let refusal = Self.proxyRefusal(handle) {
      owner.transferred(.unusable(refusal))
    } else if request.trust.isToBeShown(behind: code) {
      mistrust = Self.reason(code, errorText)
      ServerTrust.takeAny(handle)
      ccurl_set_long(handle, CURLOPT_CONNECT_ONLY, 1)
      client.start(self)
    } else {
      let reason = Self.reason(code, errorText)
      isMistrusted = Self.isMistrusted(code, reason)
      owner.transferred(.network(reason))
    }
  }

  /// What a proxy said that lets nobody through without a login; nil for no such thing.
  static func proxyRefusal(_ handle: UnsafeMutableRawPointer) -> Failure? {
    ccurl_get_long(handle, CURLINFO_HTTP_CONNECTCODE) == 407
      ? Failure("the proxy wants a login: 407", .failure) : nil
  }

  static func setConnection(
    _ handle: UnsafeMutableRawPointer, _ request: Request, _ client: WebClient,
    errorText: UnsafeMutablePointer<CChar>
  ) {
    ccurl_set_http_only(handle)
    ccurl_set_string(handle, CURLOPT_URL, request.address.text)
    // Timeouts of name look-up by threads, never by SIGALRM.
    ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
    ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(client.connectTimeout * 1000))
    ccurl_set_long(handle, CURLOPT_TCP_KEEPALIVE, 1)
    ccurl_set_long(handle, CURLOPT_TCP_KEEPIDLE, 30)
    ccurl_set_long(handle, CURLOPT_TCP_KEEPINTVL, 15)
    ccurl_set_long(handle, CURLOPT_BUFFERSIZE, pieceSize)
    ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    if request.isDirect { ccurl_set_string(handle, CURLOPT_PROXY, "") }
    if case .certificate = request.trust { ServerTrust.takeAny(handle) }
    if let authorities = client.authorities {
      FileName.with(authorities) { _ = ccurl_set_string(handle, CURLOPT_CAINFO, $0) }
    }
  }

  /// The most bytes that libcurl reads at a time, its limit: a flood costs fewer calls and
  /// less waking. Memory that no read fills is never there.
  private static let pieceSize = 512 * 1024

  private func configure() {
    ccurl_set_string(handle, CURLOPT_USERAGENT, client.agent)
    ccurl_set_string(handle, CURLOPT_ACCEPT_ENCODING, "")
    ccurl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0)
    ccurl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    if let user = request.address.user {
      ccurl_set_string(handle, CURLOPT_USERNAME, user)
      ccurl_set_string(handle, CURLOPT_PASSWORD, request.address.password ?? "")
    }
    setMethod()
    setHeaders()

    let context = Unmanaged.passUnretained(self).toOpaque()
    ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context)
    ccurl_set_callback(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      guard let bytes, let context else { return 0 }
      let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return transfer.parse(headerLine: line) ? size * count : 0
    }
    ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context)
    ccurl_set_callback(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      guard let bytes, let context else { return 0 }
      let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      return transfer.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
  }

  private func setMethod() {
    if let body = request.body {
      ccurl_set_long(handle, CURLOPT_POST, 1)
      ccurl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
      body.withUnsafeBytes {
        _ = ccurl_set_pointer(
          handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
      }
    } else if request.method == "HEAD" {
      ccurl_set_long(handle, CURLOPT_NOBODY, 1)
    }
    let usual = request.body == nil ? "GET" : "POST"
    if request.method != usual && request.method != "HEAD" {
      ccurl_set_string(handle, CURLOPT_CUSTOMREQUEST, request.method)
    }
    // On a connection of its own nothing is sent again behind our back (RFC 9110, 9.2.2).
    if !request.mayRepeat, !["GET", "HEAD"].contains(request.method) {
      ccurl_set_long(handle, CURLOPT_FRESH_CONNECT, 1)
    }
  }

  private func setHeaders() {
    let own = request.privateHeaders
    // A header of the user's takes the place of ours of that name.
    let general = request.headers.filter { header in
      !own.contains { $0.isNamed(header.name) }
    }
    for header in general + own {
      // libcurl drops "Name:" without a value unless it is written "Name;".
      let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
      headerList = curl_slist_append(headerList, line)
    }
    if request.body != nil && !own.contains(where: { $0.isNamed("Expect") }) {
      headerList = curl_slist_append(headerList, "Expect:")
    }
    ccurl_set_list(handle, CURLOPT_HTTPHEADER, headerList)
  }

  /// Heads come line by line: interim ones (1xx) first, trailers after the body.
  private func parse(headerLine bytes: UnsafeRawBufferPointer) -> Bool {
    if headIsFinal { return true }
    var end = bytes.count
    while end > 0 && (bytes[end - 1] == 10 || bytes[end - 1] == 13) { end -= 1 }
    let line = String(decoding: bytes[..<end], as: UTF8.self)
    if let started = ResponseHead(statusLine: line) {
      head = started
    } else if line.isEmpty {
      guard let head, head.status >= 200 else { return true }
      headIsFinal = true
      if !owner.transferred(head) {
        stopped = true
        return false
      }
    } else {
      head?.add(receivedLine: line)
    }
    return true
  }

  private func receive(body bytes: UnsafeRawBufferPointer) -> Int {
    switch owner.received(bytes) {
    case .taken: return bytes.count
    case .pause: return Int(CURL_WRITEFUNC_PAUSE)
    case .stop:
      stopped = true
      return 0
    }
  }
}

extension Header {
  /// Reads a field line of a response, as leniently as libcurl passes it.
  init?(receivedLine line: String) {
    guard let colon = line.utf8.firstIndex(of: 58) else { return nil }
    self.init(
      String(decoding: line.utf8[..<colon], as: UTF8.self).trimmingBlanks,
      String(decoding: line.utf8[line.utf8.index(after: colon)...], as: UTF8.self).trimmingBlanks)
  }
}
