import CCurl
import CLibc
import Core

/// A set of transfers in one poll loop, on a libcurl multi handle.
///
/// The loop of a command is: `perform`, write out what came, `wait`.
public final class WebClient {
  private let multi: UnsafeMutableRawPointer
  private var running: [UnsafeMutableRawPointer: Transfer] = [:]
  private var isPerforming = false
  private var starting: [Transfer] = []
  private var ending: [Transfer] = []
  /// When a transfer was given up last, seconds of `Clock.monotonic`; nil for never.
  private var gaveUpAt: Double?
  /// The `User-Agent` of every request.
  public let agent: String
  /// The longest wait for a connection, seconds.
  public let connectTimeout: Double

  /// The file of certificate authorities, nil for the system's.
  public let authorities: String?

  /// The certificates of connections, by their ends, that are to be the profile's.
  var certificates: [String: CertificateFingerprint] = [:]

  /// - Parameters:
  ///   - agent: the `User-Agent`, `name/version`.
  ///   - connectTimeout: seconds.
  ///   - authorities: a file of certificates in PEM; nil for `SSL_CERT_FILE`'s,
  ///     else the system's.
  /// - Returns: nil when libcurl has no memory.
  public init?(agent: String, connectTimeout: Double = 30, authorities: String? = nil) {
    Self.initialize()
    guard let multi = curl_multi_init() else { return nil }
    self.multi = multi
    // Of two transfers on one connection neither could end it for the other's silence.
    ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
    self.agent = agent
    self.connectTimeout = connectTimeout
    self.authorities = authorities ?? Process.environment("SSL_CERT_FILE")
  }

  deinit {
    for transfer in running.values { curl_multi_remove_handle(multi, transfer.handle) }
    running = [:]
    curl_multi_cleanup(multi)
  }

  private static let initialized: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  static func initialize() { _ = initialized }

  /// Starts a transfer; from within a callback, as soon as that is over.
  func start(_ transfer: Transfer) {
    running[transfer.handle] = transfer
    if let gaveUpAt { transfer.distrusts(connectionsBefore: gaveUpAt) }
    if isPerforming { starting.append(transfer) } else { add(transfer) }
  }

  /// Ends a transfer at once; its end is not told. Its connection, which may be mute, carries
  /// no other, and neither do those that were there then.
  func cancel(_ transfer: Transfer) {
    guard running.removeValue(forKey: transfer.handle) != nil else { return }
    gaveUpAt = Clock.monotonic
    transfer.closesConnection()
    if let index = starting.firstIndex(where: { $0 === transfer }) {
      starting.remove(at: index)
    } else if isPerforming {
      ending.append(transfer)
    } else {
      curl_multi_remove_handle(multi, transfer.handle)
    }
  }

  /// Does what can be done without waiting, and tells transfers their end.
  public func perform() {
    var active: Int32 = 0
    // libcurl refuses changes to its set while it is in one of our callbacks.
    isPerforming = true
    curl_multi_perform(multi, &active)
    settle()
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
        let transfer = running.removeValue(forKey: handle)
      else { continue }
      let code = ccurl_message_result(message)
      curl_multi_remove_handle(multi, handle)
      transfer.finish(code)
    }
  }

  func resume(_ transfer: Transfer) {
    guard running[transfer.handle] != nil, !isPerforming else { return transfer.resume() }
    isPerforming = true
    transfer.resume()
    settle()
  }

  private func settle() {
    isPerforming = false
    for transfer in ending { curl_multi_remove_handle(multi, transfer.handle) }
    ending = []
    for transfer in starting { add(transfer) }
    starting = []
  }

  private func add(_ transfer: Transfer) {
    if curl_multi_add_handle(multi, transfer.handle) != CURLM_OK {
      running[transfer.handle] = nil
      transfer.finish(CURLE_OUT_OF_MEMORY)
    }
  }

  /// Waits until there is something to do for a transfer, or on one of the given files, or until
  /// the time is over.
  ///
  /// - Parameters:
  ///   - seconds: 0 or more.
  ///   - files: what is waited for until it can be read.
  public func wait(seconds: Double, reading files: [Int32], writing: [Int32] = []) {
    let others = writing.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
    wait(seconds: seconds, files.flatMap { Waiter.reading($0) } + others)
  }

  /// The same, for files as poll(2) has them.
  func wait(seconds: Double, _ files: [pollfd]) {
    var all = files.map { file in
      let events =
        (Int32(file.events) & POLLIN != 0 ? CURL_WAIT_POLLIN : 0)
        | (Int32(file.events) & POLLOUT != 0 ? CURL_WAIT_POLLOUT : 0)
      return curl_waitfd(fd: file.fd, events: Int16(events), revents: 0)
    }
    let milliseconds = Int32(min(max(seconds * 1000, 0).rounded(.up), 60_000))
    curl_multi_poll(multi, &all, UInt32(all.count), milliseconds, nil)
  }
}
