import CLibc
import Core
import FlyingFox
import FlyingSocks
import Foundation
import GRDB

/// The process from its start to its end: store, token, listener, signals.
struct Server {
  let options: ServeOptions
  let address: ListenAddress
  let diagnostics: Diagnostics

  /// Serves until a signal asks for the end; then leaves with status 0.
  func run() async -> Never {
    // A client that went away is an error of its own write, not of the process.
    signal(SIGPIPE, SIG_IGN)
    Self.raiseDescriptorLimit()
    let token = accessToken()
    if token == nil && !address.isLoopback {
      diagnostics.fail(
        "\(address.text): refused without a token: not a loopback address (see --token-file)",
        .denied)
    }
    let ended = SignalWait([SIGTERM, SIGINT, SIGHUP])
    let recording = options.replay.map(open)
    let store = openStore()
    do {
      if let path = options.ingest { try await ingest(open(path), into: store) }
      let backend = try await makeBackend(store, token: token)
      await listen(backend)
      let pulse = Task { await beat(backend) }
      let replay = recording.map { file in Task { await play(file, backend) } }
      _ = await ended.wait()
      diagnostics.note("stopping")
      replay?.cancel()
      pulse.cancel()
      await stop(backend)
    } catch {
      diagnostics.fail("the store: \(Self.reason(error))")
    }
    store.close()
    Core.Process.exit(.success)
  }

  private func makeBackend(_ store: ActionStore, token: AccessToken?) async throws -> Backend {
    let now = Timestamp.now()
    let book = try await store.read { try StatsBook.load($0, guild: nil, now: now) }
    let hub = Hub(published: try await store.newestID())
    let stats = StatsKeeper(book)
    return Backend(
      store: store, log: ActionLog(store: store, stats: stats, hub: hub), stats: stats, hub: hub,
      tickets: Tickets(), token: token, backlogLimit: options.backlog, diagnostics: diagnostics)
  }

  private func beat(_ backend: Backend) async {
    while !Task.isCancelled {
      backend.hub.beat { Frame.stats(backend.stats.json(now: .now())) }
      try? await Task.sleep(for: .milliseconds(100))
    }
  }

  /// Listens and says so.
  private func listen(_ backend: Backend) async {
    let server: HTTPServer
    do {
      var configuration = try address.configuration()
      configuration.logger = .disabled
      server = HTTPServer(config: configuration, handler: backend)
    } catch {
      diagnostics.fail("\(address.text): \(Self.reason(error))")
    }
    let task = Task { try await server.run() }
    do {
      let wait = Task { try await server.waitUntilListening(timeout: 10) }
      Task {
        do { try await task.value } catch {
          diagnostics.fail("\(address.text): \(Self.reason(error))")
        }
      }
      try await wait.value
    } catch {
      diagnostics.fail("\(address.text): \(Self.reason(error))")
    }
    Connection.disableDelays()
    var port = address.port
    switch await server.listeningAddress {
    case .ip4(_, let number), .ip6(_, let number): port = number
    default: break
    }
    let url = "http://\(ListenAddress(address, port: port).text)"
    diagnostics.note("listening on \(url)")
    announce("listening", "\"url\":\"\(url)\"")
  }

  /// Prints a record of what happened.
  private func announce(_ type: String, _ members: String) {
    if options.isQuiet { return }
    write("{\"type\":\"\(type)\",\(members),\"time\":\"\(Timestamp.now().rfc3339)\"}\n")
  }

  private func write(_ text: String) {
    do throws(WriteFailure) {
      let writer = RecordWriter()
      try writer.write(text)
      try writer.flush()
    } catch {
      diagnostics.fail(writing: error)
    }
  }

  /// Ends the streams, lets open requests finish, and gives neither more than
  /// a few seconds.
  private func stop(_ backend: Backend) async {
    backend.tickets.close()
    backend.hub.end()
    for _ in 0..<300 where backend.tickets.count > 0 || backend.hub.count > 0 {
      try? await Task.sleep(for: .milliseconds(10))
    }
  }
}

extension Server {
  private func open(_ path: String) -> RecordFile {
    do throws(ReadFailure) {
      return try RecordFile(path: path, diagnostics: diagnostics)
    } catch {
      diagnostics.fail("\(path): \(error.reason)")
    }
  }

  /// Stores a file before anybody can connect.
  private func ingest(_ file: RecordFile, into store: ActionStore) async throws {
    var count = 0
    do {
      while let items = try await file.next(count: 2000) {
        count += try await store.insert(items.map(\.action)).count
      }
    } catch let error as ReadFailure {
      diagnostics.fail("\(options.ingest ?? ""): \(error.reason)")
    }
    diagnostics.note("stored \(count) actions of \(options.ingest ?? "")")
  }

  private func play(_ file: RecordFile, _ backend: Backend) async {
    do {
      let count = try await Replay(speed: options.speed, log: backend.log).play(file)
      announce("replayed", "\"actions\":\(count)")
    } catch is CancellationError {
      return
    } catch let error as ReadFailure {
      diagnostics.error(options.replay ?? "", error.reason)
    } catch {
      diagnostics.error(options.replay ?? "", Self.reason(error))
    }
  }

  /// The store, in a file that only its owner can read.
  private func openStore() -> ActionStore {
    var path = options.database ?? ""
    do {
      if options.database == nil {
        path = try Folders().stateFile("agent-serve.sqlite")
      }
      let mask = umask(0o077)
      defer { umask(mask) }
      return try ActionStore(path: path)
    } catch let error as SettingsError {
      diagnostics.fail(error.message, error.status)
    } catch {
      diagnostics.fail("\(path): \(Self.reason(error))")
    }
  }

  /// The token that requests need: the option's file, or one of the usual places.
  private func accessToken() -> AccessToken? {
    do throws(SettingsError) {
      let secret = try Credentials(folders: Folders()).token(
        option: options.tokenFile, profile: nil)
      return secret.map { AccessToken($0.reveal()) }
    } catch {
      diagnostics.fail(error.message, error.status)
    }
  }

  /// A stream holds a descriptor: take as many as the system allows.
  private static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 1 << 16)
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  static func reason(_ error: any Error) -> String {
    if case SocketError.failed(_, let code, _) = error { return systemReason(code) }
    if let error = error as? DatabaseError { return error.message ?? "error \(error.resultCode)" }
    return "\(error)"
  }
}
