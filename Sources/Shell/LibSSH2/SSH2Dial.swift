import CLibc
import Core

/// Brings a TCP connection about: looks the name up, then tries its addresses one after
/// the other, in the order in which the system gives them.
final class SSH2Dial {
  /// How far it is.
  enum Progress {
    case waiting
    /// The descriptor is the caller's now.
    case connected(Int32)
    case failed(why: String)
  }

  private let host: String
  private let port: Int
  /// When all tries must be over.
  private let limit: Double
  private var addresses = clibc_addresses()
  /// Where the answer to the name comes from, while it is asked for.
  private var resolver: Int32 = -1
  /// The connection that is being made.
  private var socket: Int32 = -1
  private var index = -1
  /// When the next address gets its turn.
  private var nextTry: Double
  private var lastFailure: String?
  private var startFailure: String?

  /// Begins.
  init(host: String, port: Int, limit: Double) {
    self.host = host
    self.port = port
    self.limit = limit
    nextTry = limit
    resolver = clibc_resolve(host, Int32(port))
    if resolver < 0 { startFailure = systemReason(systemError) }
  }

  deinit { close() }

  /// The time at which `advance` is to be called at the latest.
  var deadline: Double { startFailure == nil ? min(nextTry, limit) : 0 }

  /// Adds the descriptors that it waits for.
  func wants(_ set: inout PollSet) {
    set.add(resolver)
    set.add(socket, reading: false, writing: true)
  }

  /// Goes on as far as it can.
  func advance(_ set: PollSet, now: Double) -> Progress {
    if let startFailure { return .failed(why: startFailure) }
    if resolver >= 0 {
      let answer = clibc_resolved(resolver, &addresses)
      if answer == 0 {
        return now < limit ? .waiting : .failed(why: "the name was not looked up in time")
      }
      CLibc.close(resolver)
      resolver = -1
      guard answer > 0, addresses.status == 0, addresses.count > 0 else {
        let reason =
          answer > 0 ? String(cString: clibc_resolve_reason(&addresses)) : "cannot be looked up"
        let hint = NearestWord.hint(for: host, among: CompletionNames.hostNames())
        return .failed(why: reason.lowercasedInitial + hint)
      }
      return tryNext(now)
    }
    guard socket >= 0 else { return tryNext(now) }
    if set.isWritable(socket) {
      let code = clibc_connect_result(socket)
      if code == 0 {
        defer { socket = -1 }
        return .connected(socket)
      }
      return failed(systemReason(code), now)
    }
    return now < nextTry ? .waiting : failed("no answer in time", now)
  }

  /// Gives up.
  func close() {
    for descriptor in [resolver, socket] where descriptor >= 0 { CLibc.close(descriptor) }
    resolver = -1
    socket = -1
  }

  private func failed(_ reason: String, _ now: Double) -> Progress {
    if socket >= 0 { CLibc.close(socket) }
    socket = -1
    lastFailure = "\(reason) (\(place))"
    return tryNext(now)
  }

  private func tryNext(_ now: Double) -> Progress {
    while index + 1 < Int(addresses.count), now < limit {
      index += 1
      socket = clibc_connect_start(&addresses, Int32(index))
      if socket >= 0 {
        // What is left of the time is shared with those that follow.
        nextTry = now + (limit - now) / Double(Int(addresses.count) - index)
        return .waiting
      }
      lastFailure = "\(systemReason(systemError)) (\(place))"
    }
    return .failed(why: lastFailure ?? "no answer in time")
  }

  /// The address that is tried, for messages.
  private var place: String {
    var text = [CChar](repeating: 0, count: 64)
    clibc_address_text(&addresses, Int32(index), &text, text.count)
    let digits = text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    return "\(digits) port \(port)"
  }
}

extension String {
  /// With a small first letter, as diagnostics have it.
  fileprivate var lowercasedInitial: String { prefix(1).lowercased() + dropFirst() }
}
