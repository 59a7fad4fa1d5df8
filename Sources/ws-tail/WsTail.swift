import Agent
import CLibc
import Core
import Records
import Web

/// ws-tail(1): follows a WebSocket, one record per message.
public func wsTailMain() {
  WsOptions.table.run(WsOptions(), verbose: \.follow.isVerbose) { try follow($0, $1).run() }
}

private func follow(_ options: WsOptions, _ diagnostics: Diagnostics) throws(Failure) -> Follow {
  var settings = try Settings()
  settings.limitToken(options.follow.reconnect.maxTime)
  let profile = try settings.profile(options.access, isNeeded: false)
  settings.configuration.report(to: diagnostics)
  var request = Request(try address(options.url))
  request.unquotable = request.address.queryValues
  request.privateHeaders = try RequestArguments.headers(options.headers)
  try RequestArguments.refuse(
    request.privateHeaders,
    Dictionary(uniqueKeysWithValues: Upgrade.reserved.map { ($0, "is the handshake's own") }))
  let server = try RequestArguments.authorize(
    &request, settings: settings, profile: profile, access: options.access)
  let greeting = try options.data.map { data throws(Failure) in
    let bytes = try RequestArguments.data(data)
    guard bytes.withUnsafeBytes(UTF8Text.isValid) else { throw Failure("--data", "not UTF-8") }
    return bytes
  }
  var socket = SocketOptions()
  socket.subprotocols = options.subprotocols
  socket.maxMessageBytes = options.follow.maxEventBytes
  let lines = options.sends ? SentLines(diagnostics) : nil
  let place = request.address.socketDisplay
  var stream = FollowedStream(place) { [request, socket] follow in
    lines?.onFault = { [unowned follow] in follow.hadFault = true }
    follow.input = lines.map { lines in ({ lines.descriptor }, { lines.turn() }) }
    return { () throws(LinkEnd) in
      let open = try LiveSocket.connect(
        follow, request, options: socket, idle: follow.policy.idleTimeout)
      if let greeting { open.send(text: greeting) }
      follow.opened(open.place)
      lines?.socket = open
      defer { lines?.socket = nil }
      // What came before the connection.
      lines?.turn()
      while true {
        switch try open.receive(idle: follow.policy.idleTimeout, pingEvery: options.ping) {
        case .message(let message): try follow.print(message)
        case .oversize(let bytes): follow.oversize(bytes: bytes)
        case nil: continue
        }
      }
    }
  }
  stream.judge = { server.problem(of: $0, $1) }
  return Follow(
    options.follow, try options.access.client(diagnostics.program), stream,
    output: EventOutput(dataOnly: options.dataOnly, receivedAt: options.follow.receivedAt),
    diagnostics)
}

private func address(_ url: String) throws(Failure) -> WebAddress {
  try Failure.rethrowing(try WebAddress(socket: url)) { RequestArguments.fault(of: url, $0) }
}

/// Sends the lines of standard input: `--send`.
///
/// While the link is down they wait, and when many do, whoever writes them waits, too.
final class SentLines {
  /// The longest line, bytes.
  static let longest = 64 << 20
  /// With so many bytes of lines waiting, no more are read.
  private static let enough = 1 << 20
  /// With so many bytes on their way to the network, the rest waits here: what is on its
  /// way is lost with the connection.
  private static let ahead = 1 << 16
  /// The most that is read in one turn: who never pauses must not keep signals, the clock
  /// and the link waiting.
  private static let readsInTurn = 4

  var socket: LiveSocket?

  private var faults: FaultLog
  var onFault: () -> Void = {}
  private var waiting = ByteQueue()
  private var scanned = 0
  private var number = 0
  private var isEnded = false
  private var isSkipping = false

  init(_ diagnostics: Diagnostics) { faults = FaultLog(diagnostics) }

  var descriptor: Int32? { isEnded || hasEnough ? nil : 0 }

  /// Whether lines wait, and not one long line for its end.
  private var hasEnough: Bool { waiting.count - scanned >= Self.enough }

  func turn() {
    send()
    for _ in 0..<Self.readsInTurn {
      guard descriptor != nil, isReadable(0), readSome() else { return }
      send()
    }
  }

  /// Whether there may be more.
  private func readSome() -> Bool {
    let room = waiting.room(1 << 16)
    let count = read(0, room.baseAddress, room.count)
    if count > 0 {
      waiting.put(count)
      return true
    }
    if count < 0 && (systemError == EINTR || systemError == EAGAIN) { return false }
    if count < 0 {
      faults.file("-", systemReason(systemError))
      onFault()
    }
    isEnded = true
    // The last line may have no end.
    if let last = waiting.bytes.last ?? (isSkipping ? 0 : nil), last != 10 {
      withUnsafeBytes(of: UInt8(10)) { waiting.append($0) }
    }
    send()
    return false
  }

  private func send() {
    while let socket, socket.unsent < Self.ahead, let line = nextLine() {
      socket.send(text: line)
    }
    if isEnded, waiting.count == 0 { faults.finish() }
  }

  private func nextLine() -> [UInt8]? {
    while true {
      let bytes = waiting.bytes
      guard let start = bytes.baseAddress,
        let end = memchr(start + scanned, 10, bytes.count - scanned)
      else {
        scanned = bytes.count
        if scanned > Self.longest {
          isSkipping = true
          waiting.removeAll()
          scanned = 0
        }
        return nil
      }
      let count = UnsafeRawPointer(end) - start
      let line = Array(UnsafeRawBufferPointer(start: start, count: count))
      waiting.drop(count + 1)
      scanned = 0
      number += 1
      if isSkipping {
        isSkipping = false
        fault("longer than \(Self.longest) bytes")
      } else if !line.withUnsafeBytes(UTF8Text.isValid) {
        fault("not UTF-8")
      } else {
        return line
      }
    }
  }

  private func fault(_ reason: String) {
    faults.line("-", number, reason)
    onFault()
  }
}
