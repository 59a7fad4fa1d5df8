import CLibc
import Core

/// Serves a connection to other processes of the user: each command that one of them
/// sends to the control socket runs on a channel of its own. Nothing that a client does
/// holds up the owner's loop, and what it leaves lying about is bounded.
final class LinkServer {
  private let place: ControlPlace
  private let path: String
  private var listener: Int32 = -1
  /// The file that is ours, while the name is not another's.
  private var file: ino_t = 0
  private var clients: [ServedClient] = []
  private var looked: Double
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  /// Connections at once; more wait until their patience ends.
  private static let clientLimit = 32
  /// Commands at once: a host grants ten to a connection by default, the terminal's included.
  private static let callLimit = 8
  /// How often it is looked after the socket, seconds: whoever took its name may be gone.
  private static let lookInterval = 5.0

  /// Takes calls from now on; a name that another process has is taken over.
  init(_ request: LinkRequest, now: Double) throws(SettingsError) {
    clibc_signal_ignore(SIGPIPE)
    place = try ControlPlace(shared: request)
    path = place.socket
    looked = now
    place.sweep()
    try listen()
  }

  deinit { close() }

  /// Whether there is more to move at once.
  var hasMore: Bool { clients.contains { $0.call?.hasMore == true } }

  func wants(_ set: inout PollSet) {
    if clients.count < Self.clientLimit { set.add(listener) }
    for client in clients { client.wants(&set) }
  }

  /// Goes on as far as it can, behind the link.
  func advance(_ set: PollSet, _ link: any Link, now: Double) {
    if set.isReadable(listener) { accept() }
    for client in clients {
      client.advance(set, &buffer) { command in
        guard case .ready = link.state, count < Self.callLimit else { return nil }
        return link.run(command)
      }
    }
    clients.removeAll { $0.isOver }
    if now >= looked + Self.lookInterval {
      looked = now
      // Not our socket's end: calls that are under way go on.
      if access(path, F_OK) != 0 { try? listen() }
    }
  }

  /// Hangs up on everybody, and takes the name away.
  func close() {
    for client in clients { client.close() }
    clients = []
    guard listener >= 0 else { return }
    if Self.file(path) == file { unlink(path) }
    CLibc.close(listener)
    listener = -1
  }

  private var count: Int { clients.reduce(0) { $0 + ($1.call?.isOver == false ? 1 : 0) } }

  /// Made aside first: a name in use, by a process that lives or one that is dead, is
  /// replaced in one step.
  private func listen() throws(SettingsError) {
    let aside = place.folder + "/" + place.ownName("m")
    let fresh = clibc_listen_local(aside)
    guard fresh >= 0 else {
      let reason = systemReason(systemError)
      unlink(aside)
      throw SettingsError(aside, reason)
    }
    let made = Self.file(aside)
    guard let made, rename(aside, path) == 0 else {
      let reason = systemReason(systemError)
      unlink(aside)
      CLibc.close(fresh)
      throw SettingsError(path, reason)
    }
    if listener >= 0 { CLibc.close(listener) }
    listener = fresh
    file = made
  }

  private static func file(_ path: String) -> ino_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_ino : nil
  }

  private func accept() {
    while clients.count < Self.clientLimit {
      let socket = clibc_accept_local(listener)
      if socket >= 0 {
        clients.append(ServedClient(socket))
      } else if systemError != EACCES && systemError != EINTR && systemError != ECONNABORTED {
        return
      }
    }
  }
}

/// A terminal's connection that other processes of the user may share: it serves them
/// from when the terminal runs until it ends.
final class ServingLink: Link {
  private let request: LinkRequest
  private let link: any Link
  private var server: LinkServer?
  private var hasTried = false
  private weak var terminal: (any Channel)?

  init(_ link: any Link, _ request: LinkRequest) {
    self.link = link
    self.request = request
  }

  deinit { close() }

  var state: LinkState { link.state }
  var transport: TransportName { link.transport }
  var deadline: Double? { server?.hasMore == true ? 0 : link.deadline }

  func wants(_ set: inout PollSet) {
    link.wants(&set)
    server?.wants(&set)
  }

  func advance(_ set: PollSet, now: Double) {
    link.advance(set, now: now)
    // The terminal comes first: the host may grant no more than that.
    if !hasTried, case .ready = link.state, terminal?.isStarted == true { serve(now) }
    server?.advance(set, link, now: now)
    if case .ended = link.state { stop() }
  }

  func openTerminal(_ command: String, size: WindowSize, term: String) -> any Channel {
    let channel = link.openTerminal(command, size: size, term: term)
    terminal = channel
    return channel
  }

  func run(_ command: String) -> any Channel { link.run(command) }

  func close() {
    stop()
    link.close()
  }

  private func serve(_ now: Double) {
    hasTried = true
    do throws(SettingsError) {
      server = try LinkServer(request, now: now)
    } catch {
      request.note("the connection is not shared: \(error.message)")
    }
  }

  private func stop() {
    server?.close()
    server = nil
  }
}
