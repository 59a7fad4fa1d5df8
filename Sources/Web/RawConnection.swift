import CCurl
import CLibc
import Core

/// A connection that libcurl makes, with names, proxies and TLS, and on which the owner
/// talks himself.
///
/// Each has a multi handle of its own. libcurl takes a connection that no transfer is on
/// for an idle one: the other transfers of a set would end it as soon as bytes wait.
final class RawConnection {
  enum Reading {
    /// So many bytes.
    case bytes(Int)
    case nothing
    case end
    case failed(String)
  }

  private let multi: UnsafeMutableRawPointer
  private let handle: UnsafeMutableRawPointer
  private let request: Request
  /// Why the certificate is not trusted, while it is looked at.
  private var mistrust: String?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  /// The file of the connection; -1 before it is there.
  private(set) var socket: Int32 = -1

  /// Nil when libcurl has no memory.
  init?(_ request: Request, _ client: WebClient) {
    WebClient.initialize()
    guard let multi = curl_multi_init() else { return nil }
    guard let handle = curl_easy_init() else {
      curl_multi_cleanup(multi)
      return nil
    }
    (self.multi, self.handle, self.request) = (multi, handle, request)
    errorText.pointee = 0
    Transfer.setConnection(handle, request, client, errorText: errorText)
    ccurl_set_long(handle, CURLOPT_CONNECT_ONLY, 1)
    // A proxy is to hand the bytes on, whatever they are.
    ccurl_set_long(handle, CURLOPT_HTTPPROXYTUNNEL, 1)
    // Nothing newer can be upgraded (RFC 6455, section 4.1).
    ccurl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    if curl_multi_add_handle(multi, handle) != CURLM_OK { return nil }
  }

  deinit {
    // Not before: what is taken out of its set can be neither read nor written.
    curl_multi_remove_handle(multi, handle)
    curl_easy_cleanup(handle)
    curl_multi_cleanup(multi)
    errorText.deallocate()
  }

  /// Whether it is done by `until` (`Clock.monotonic`); `failed` where another try would not do.
  func connect(_ waiter: Waiter, until: Double) throws(LinkEnd) -> Bool {
    while try !isMade() {
      if Clock.monotonic >= until { return false }
      let most = 16
      var found = [curl_waitfd](repeating: curl_waitfd(), count: most)
      let count = Int(ccurl_descriptors(multi, &found, Int32(most)))
      let files = found[..<count].map { file in
        let events =
          (Int32(file.events) & CURL_WAIT_POLLIN != 0 ? POLLIN : 0)
          | (Int32(file.events) & CURL_WAIT_POLLOUT != 0 ? POLLOUT : 0)
        return pollfd(fd: file.fd, events: Int16(events), revents: 0)
      }
      var milliseconds = 0
      curl_multi_timeout(multi, &milliseconds)
      // libcurl knows neither a file nor a time, and asks for a look now and then.
      let wait =
        milliseconds >= 0 ? Double(milliseconds) / 1000 : count == 0 ? 0.1 : Double.infinity
      try waiter.wait(until: min(until, Clock.monotonic + wait)) { files }
    }
    return true
  }

  /// Gets on with connecting: whether it is done.
  private func isMade() throws(LinkEnd) -> Bool {
    var active: Int32 = 0
    curl_multi_perform(multi, &active)
    var left: Int32 = 0
    guard let message = curl_multi_info_read(multi, &left),
      message.pointee.msg == CURLMSG_DONE
    else { return false }
    let code = ccurl_message_result(message)
    if let mistrust {
      throw .lost(mistrust + ServerTrust.hint(ServerTrust.fingerprint(handle)))
    }
    guard code == CURLE_OK else {
      if let refusal = Transfer.proxyRefusal(handle) { throw .failed(refusal) }
      let reason = Transfer.reason(code, errorText)
      guard request.trust.isToBeShown(behind: code) else { throw .lost(reason) }
      mistrust = reason
      curl_multi_remove_handle(multi, handle)
      ServerTrust.takeAny(handle)
      curl_multi_add_handle(multi, handle)
      return false
    }
    let found = ServerTrust.fingerprint(handle)
    if let fault = request.trust.fault(of: found, at: request.address) { throw .failed(fault) }
    socket = ccurl_get_socket(handle)
    guard socket >= 0 else { throw .lost("the connection is gone") }
    return true
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
    var count = 0
    let code = curl_easy_recv(handle, buffer.baseAddress, buffer.count, &count)
    switch code {
    case CURLE_OK: return count > 0 ? .bytes(count) : .end
    case CURLE_AGAIN: return .nothing
    default: return .failed(Transfer.reason(code, errorText))
    }
  }

  /// Bytes taken, nil when broken; the rest must be offered again at the same place, for TLS.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var count = 0
    switch curl_easy_send(handle, bytes.baseAddress, bytes.count, &count) {
    case CURLE_OK: return count
    case CURLE_AGAIN: return 0
    default: return nil
    }
  }
}
