import CCurl
import CLibc
import Core

/// A connection that libcurl makes, with names, proxies and TLS, and on which the owner
/// talks himself.
///
/// Each has a multi handle of its own. libcurl takes a connection that no transfer is on
/// for an idle one: the other transfers of a set would end it as soon as bytes wait.
final class RawConnection {
  /// What a read gave.
  enum Reading {
    /// So many bytes.
    case bytes(Int)
    /// None now.
    case nothing
    /// None any more: the other side has ended.
    case end
    /// The network failed; one line.
    case failed(String)
  }

  private let multi: UnsafeMutableRawPointer
  private let handle: UnsafeMutableRawPointer
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  /// The file of the connection; -1 before it is there.
  private(set) var socket: Int32 = -1

  /// Whether something may be done without waiting.
  var isReady = false
  /// Whether `onReady` is called when there is something to read, and when there is room
  /// to write.
  var wantsRead = true
  var wantsWrite = false
  /// Told that the connection is made.
  var onOpen: () -> Void = {}
  /// Told that it is not to be had, and whether another try may do; one line.
  var onFailure: (String, _ mayPass: Bool) -> Void = { _, _ in }
  /// Told that reading or writing may get on.
  var onReady: () -> Void = {}

  /// - Parameters:
  ///   - request: where to, and whether by a proxy.
  ///   - client: its time-out and authorities are used.
  /// - Returns: nil when libcurl has no memory.
  init?(_ request: Request, _ client: WebClient) {
    WebClient.initialize()
    guard let multi = curl_multi_init() else { return nil }
    guard let handle = curl_easy_init() else {
      curl_multi_cleanup(multi)
      return nil
    }
    self.multi = multi
    self.handle = handle
    errorText.pointee = 0
    Transfer.setConnection(
      handle, request, connectTimeout: client.connectTimeout, authorities: client.authorities,
      errorText: errorText)
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

  private var isConnected: Bool { socket >= 0 }

  /// Does what can be done without waiting.
  func perform() {
    if !isConnected { return connect() }
    guard isReady else { return }
    isReady = false
    onReady()
  }

  /// Adds the files to wait for.
  ///
  /// - Returns: how long to wait for them at most, seconds.
  func addWaits(to files: inout [curl_waitfd]) -> Double {
    if isReady { return 0 }
    if isConnected {
      let events =
        (wantsRead ? CURL_WAIT_POLLIN : 0) | (wantsWrite ? CURL_WAIT_POLLOUT : 0)
      // A file that is asked for nothing would still tell that its other end is gone.
      if events != 0 { files.append(curl_waitfd(fd: socket, events: Int16(events), revents: 0)) }
      return .infinity
    }
    let most = 16
    var found = [curl_waitfd](repeating: curl_waitfd(), count: most)
    let count = Int(ccurl_descriptors(multi, &found, Int32(most)))
    files += found[..<count]
    var milliseconds = 0
    curl_multi_timeout(multi, &milliseconds)
    if milliseconds >= 0 { return Double(milliseconds) / 1000 }
    // libcurl knows neither a file nor a time, and asks for a look now and then.
    return count == 0 ? 0.1 : .infinity
  }

  /// Connects, and waits until that is done.
  ///
  /// - Parameter until: when it has failed, seconds of `Clock.monotonic`.
  /// - Returns: whether it is done; else it is too late.
  /// - Throws: `LinkEnd`; `failed` where another try would not do.
  func connect(_ waiter: Waiter, until: Double) throws(LinkEnd) -> Bool {
    while try !isMade() {
      if Clock.monotonic >= until { return false }
      var found: [curl_waitfd] = []
      let wait = addWaits(to: &found)
      var files = found.map {
        let events =
          (Int32($0.events) & CURL_WAIT_POLLIN != 0 ? POLLIN : 0)
          | (Int32($0.events) & CURL_WAIT_POLLOUT != 0 ? POLLOUT : 0)
        return pollfd(fd: $0.fd, events: Int16(events), revents: 0)
      }
      try waiter.wait(&files, until: min(until, Clock.monotonic + wait))
    }
    return true
  }

  /// Gets on with connecting.
  ///
  /// - Returns: whether it is done.
  private func isMade() throws(LinkEnd) -> Bool {
    isReady = false
    var active: Int32 = 0
    curl_multi_perform(multi, &active)
    var left: Int32 = 0
    guard let message = curl_multi_info_read(multi, &left),
      message.pointee.msg == CURLMSG_DONE
    else { return false }
    let code = ccurl_message_result(message)
    guard code == CURLE_OK else {
      if let refusal = Transfer.proxyRefusal(handle) {
        throw .failed(AnswerProblem(refusal, .failure))
      }
      throw .lost(Transfer.reason(code, errorText))
    }
    socket = ccurl_get_socket(handle)
    guard socket >= 0 else { throw .lost("the connection is gone") }
    return true
  }

  private func connect() {
    do throws(LinkEnd) {
      guard try isMade() else { return }
      isReady = true
      onOpen()
    } catch {
      switch error {
      case .lost(let reason, _): onFailure(reason, true)
      case .failed(let problem, _): onFailure(problem.line, false)
      default: onFailure("the connection is gone", true)
      }
    }
  }

  /// Reads what is there.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
    var count = 0
    let code = curl_easy_recv(handle, buffer.baseAddress, buffer.count, &count)
    switch code {
    case CURLE_OK: return count > 0 ? .bytes(count) : .end
    case CURLE_AGAIN: return .nothing
    default: return .failed(Transfer.reason(code, errorText))
    }
  }

  /// Writes what there is room for. When less than all was taken, the rest must be
  /// offered from the same place in memory: TLS has begun with it.
  ///
  /// - Returns: how many bytes were taken; nil when the connection is broken.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var count = 0
    switch curl_easy_send(handle, bytes.baseAddress, bytes.count, &count) {
    case CURLE_OK: return count
    case CURLE_AGAIN: return 0
    default: return nil
    }
  }
}
