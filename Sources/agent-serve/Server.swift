import CLibc
import Core
import Records

struct Server {
  let options: ServeOptions
  let address: ListenAddress
  let diagnostics: Diagnostics

  func run() async -> Never {
    // A client that went away, or a file that must not grow, is an error of one
    // write, not of the process.
    clibc_signal_ignore(SIGPIPE)
    clibc_signal_ignore(SIGXFSZ)
    Self.raiseDescriptorLimit()
    let (token, secret) = orFail { () throws(Failure) in (try accessToken(), try voiceSecret()) }
    if token == nil && !address.isLoopback {
      diagnostics.fail(
        "\(address.text): refused without a token: not a loopback address (see --token-file)",
        .denied)
    }
    probe(address)
    if let gatewayAddress { probe(gatewayAddress, isGateway: true) }
    let recording = options.replay.map(openRecords)
    let incoming = options.ingest.map(openRecords)
    let store = openStore()
    do {
      let feed = try await makeFeed(store)
      if let incoming { try await ingest(incoming, into: store) }
      // Until here a signal ends the process at once, and loses nothing.
      let ended = EndSignals.first()
      let replies = try await makeGateway(store, token: token)
      let riff = makeRiff(secret, store, replies)
      let backend = try await makeBackend(store, token: token, riff: riff, feed: feed)
      let gateway = await openGateway(replies, backend)
      let listening = await listen(address, backend)
      feed?.start()
      let pulse = Poller.start { await beat(backend) }
      let ticking = replies.map { gateway in Task { await tick(gateway) } }
      let embedding = backend.memory.embedder.map { embedder in Task { await embedder.run() } }
      let replay = recording.map { file in Task { await play(file, backend) } }
      _ = await ended.value
      diagnostics.note("stopping")
      await listening.close()
      await gateway?.close()
      ticking?.cancel()
      await replies?.stop()
      replay?.cancel()
      pulse.cancel()
      embedding?.cancel()
      await backend.memory.embedder?.stop()
      await stop(backend)
      await feed?.stop()
    } catch {
      diagnostics.fail("the store: \(errorText(error))")
    }
    store.close()
    Core.Process.exit(.success)
  }

  private func makeBackend(
    _ store: ActionStore, token: AccessToken?, riff: RiffService?, feed: BusFeed?
  ) async throws -> ServedBackend {
    let now = Timestamp.now()
    let book = try await store.read { try StatsBook.load($0, guild: nil, now: now) }
    let streams = await Streams(published: try await store.newestID())
    let documents = try await Documents(store)
    let stats = StatsKeeper(book, documents: documents)
    return ServedBackend(
      store: store, log: ActionLog(store: store, stats: stats, streams: streams, feed: feed),
      stats: stats,
      documents: documents, memory: makeMemory(store), streams: streams,
      activity: .activity(streams.activity, store, stats),
      voice: .voice(streams.voice, store, documents),
      serving: Serving(
        connections: Connections(descriptors: Self.descriptorLimit, diagnostics: diagnostics),
        requests: Budget(), names: servedNames(token), token: token,
        backlogLimit: options.backlog, diagnostics: diagnostics), riff: riff)
  }

  @Poller
  private func beat(_ backend: ServedBackend) async {
    while !Task.isCancelled {
      await beat(backend.streams.activity) { .stats(backend.stats.json(now: .now())) }
      await beat(backend.streams.voice) { .voiceState(backend.documents.line(.voiceState)) }
      try? await Poller.sleep(for: .milliseconds(100))
    }
  }

  @Poller
  private func beat(_ hub: Hub, _ update: @escaping @Sendable () -> Frame) async {
    let now = ContinuousClock.now
    guard hub.isUpdateDue(at: now) else { return hub.beat(at: now, update: update) }
    guard let frame = try? await Poller.elsewhere({ update() }) else { return }
    hub.beat(at: now) { frame }
  }

  private func listen(
    _ place: ListenAddress, _ service: any RequestService, isGateway: Bool = false
  ) async -> Listener {
    do throws(Failure) {
      let listener = try await Listener(place, service)
      let port = ListenAddress(place, port: listener.port).text
      let url = (isGateway ? "ws://" : "http://") + port
      diagnostics.note("\(isGateway ? "gateway: " : "")listening on \(url)")
      announce(RecordText(isGateway ? .gateway : .listening).string("url", url))
      return listener
    } catch {
      fail(place, error, isGateway: isGateway)
    }
  }

  private func probe(_ place: ListenAddress, isGateway: Bool = false) {
    do throws(Failure) { try place.probe() } catch { fail(place, error, isGateway: isGateway) }
  }

  private func fail(_ place: ListenAddress, _ error: Failure, isGateway: Bool) -> Never {
    let option = isGateway ? "--gateway PORT" : "-l HOST:PORT"
    let advice = error.code == EADDRINUSE ? "; \(option) names another" : ""
    diagnostics.fail("\(place.text): \(error.reason)\(advice)")
  }

  /// Does what the server is nothing without.
  private func orFail<Value>(_ body: () throws(Failure) -> Value) -> Value {
    do throws(Failure) { return try body() } catch {
      diagnostics.fail(error.message, error.status)
    }
  }

  private func announce(_ record: RecordText) {
    if options.isQuiet { return }
    do throws(WriteFailure) {
      let writer = RecordWriter()
      try writer.write(record.time(.now()).line)
      try writer.flush()
    } catch {
      diagnostics.fail(writing: error)
    }
  }

  /// Ends the streams, lets open requests finish, and gives neither more than a few seconds.
  private func stop(_ backend: ServedBackend) async {
    backend.serving.requests.close()
    await backend.streams.end()
    await backend.riff?.stop()
    for _ in 0..<300 {
      let streams = await backend.streams.count
      if backend.serving.requests.count == 0 && streams == 0 { return }
      try? await Poller.sleep(for: .milliseconds(10))
    }
  }
}

extension Server {
  /// Where the gateway listens: on the host of the rest. Nil for none.
  var gatewayAddress: ListenAddress? {
    options.gateway.map { ListenAddress(address, port: $0) }
  }

  func makeGateway(_ store: ActionStore, token: AccessToken?) async throws -> Gateway? {
    guard options.gateway != nil || options.replyCommand != nil else { return nil }
    return try await Gateway(store, options, token: token, diagnostics: diagnostics)
  }

  /// Nil where only the voice server makes replies.
  func openGateway(_ gateway: Gateway?, _ backend: ServedBackend) async -> Listener? {
    guard let gateway, let place = gatewayAddress else { return nil }
    let service = GatewayService(gateway: gateway, serving: backend.serving)
    let listener = await listen(place, service, isGateway: true)
    if options.asksForDevices { readAnswers(for: gateway) }
    return listener
  }

  private func tick(_ gateway: Gateway) async {
    while !Task.isCancelled {
      try? await Poller.sleep(for: Gateway.tickInterval)
      if !Task.isCancelled { await gateway.tick() }
    }
  }

  private func readAnswers(for gateway: Gateway) {
    let others = [options.ingest, options.replay, options.tokenFile, options.voiceSecretFile]
    if others.contains("-") { return }
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    // It waits for a person: a thread of its own, not one of the tasks' few.
    OwnThread.require {
      var line: [UInt8] = []
      var byte: UInt8 = 0
      while read(0, &byte, 1) == 1 {
        if byte != 10 {
          if line.count < 1024 { line.append(byte) }
          continue
        }
        continuation.yield(String(decoding: line, as: UTF8.self))
        line = []
      }
      continuation.finish()
    }
    Task { for await line in lines { await gateway.answerPairing(line) } }
  }
}

extension Server {
  func voiceSecret() throws(Failure) -> RiffSecret? {
    guard let file = options.voiceSecretFile else { return nil }
    let text = try Credentials(folders: Folders()).token(option: file, profile: nil)
    if let secret = text.flatMap({ RiffSecret($0.reveal()) }) { return secret }
    throw Failure(file, "the secret is not 64 hexadecimal digits")
  }

  func makeRiff(_ secret: RiffSecret?, _ store: ActionStore, _ gateway: Gateway?) -> RiffService? {
    let transcripts =
      options.transcripts ?? Folders.join(Process.environment("HOME") ?? "", ".claude/projects")
    return secret.map { secret in
      RiffService(
        secret: secret, store: store, transcriber: options.transcriber.map { Transcriber($0) },
        gateway: options.replyCommand == nil ? nil : gateway,
        narrator: options.speaker.map { Narrator($0, transcripts: transcripts) },
        diagnostics: diagnostics)
    }
  }
}

extension Server {
  /// The store, in a file that only its owner can read.
  func openStore() -> ActionStore {
    var path = options.database ?? ""
    do {
      if options.database == nil { path = try Folders().stateFile("agent-serve.sqlite") }
      let mask = umask(0o077)
      defer { umask(mask) }
      return try ActionStore(path: path == ":memory:" ? path : ActionStore.lock(path))
    } catch let error as Failure {
      diagnostics.fail(error.message, error.status)
    } catch {
      // Who has it locked leaves it again.
      let isBusy = (error as? DatabaseError)?.isBusy == true
      diagnostics.fail("\(path): \(errorText(error))", isBusy ? .temporary : .failure)
    }
  }

  func makeFeed(_ store: ActionStore) async throws -> BusFeed? {
    guard let target = options.bus else { return nil }
    _ = orFail { () throws(Failure) in try Settings(diagnostics: diagnostics).bus(target.bus) }
    return try await BusFeed(target, store, diagnostics)
  }

  func makeMemory(_ store: ActionStore) -> ServedMemory {
    let embedder = options.embedURL.map { address in
      Embedder(store, address, model: options.embedModel ?? "nomic-embed-text", diagnostics)
    }
    return ServedMemory(store: store, embedder: embedder)
  }

  /// The token that requests need: the option's file, or one of the usual places.
  func accessToken() throws(Failure) -> AccessToken? {
    try Credentials(folders: Folders()).token(option: options.tokenFile, profile: nil)
      .map { AccessToken($0.reveal()) }
  }

  /// What requests may call this server. A token is something that no page of a
  /// browser has, whatever it calls us; a tunnel calls us by its own name.
  func servedNames(_ token: AccessToken?) -> [Authority]? {
    token != nil && options.hosts.isEmpty ? nil : options.hosts + address.names
  }

  #if canImport(Glibc)
    private static let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let descriptors = RLIMIT_NOFILE
  #endif

  static var descriptorLimit: Int {
    var limit = rlimit()
    return getrlimit(descriptors, &limit) == 0 ? Int(clamping: limit.rlim_cur) : 64
  }

  /// A stream holds a descriptor: take as many as the system allows.
  static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(descriptors, &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 1 << 16)
    _ = setrlimit(descriptors, &limit)
  }
}

extension Server {
  func openRecords(_ path: String) -> RecordFile {
    do throws(Failure) { return try RecordFile(path: path, diagnostics: diagnostics) } catch {
      diagnostics.fail("\(path): \(error.reason)")
    }
  }

  /// Stores a file before anybody can connect.
  func ingest(_ file: RecordFile, into store: ActionStore) async throws {
    var count = 0
    // A day holds thousands of voice states, of which the last one counts.
    var documents: [Document: [UInt8]] = [:]
    do {
      while let items = try await file.next(count: 2000) {
        count += try await store.insert(items.compactMap(\.action)).count
        let facts = items.compactMap { item in
          if case .fact(let fact) = item.content { fact } else { nil }
        }
        // A fact that is there already is the same one, told again.
        if !facts.isEmpty { _ = try await store.write { try FactTable.insert(facts, $0) } }
        for case .document(let document, let bytes) in items.map(\.content) {
          documents[document] = bytes
        }
      }
      for (document, bytes) in documents {
        try await store.put(document, bytes, at: .now()) {}
      }
    } catch let error as Failure {
      diagnostics.fail("\(options.ingest ?? ""): \(error.reason)")
    }
    diagnostics.note("stored \(count) actions of \(options.ingest ?? "")")
  }

  func play(_ file: RecordFile, _ backend: ServedBackend) async {
    do {
      let count = try await backend.play(file, speed: options.speed)
      announce(RecordText(.replayed).number("actions", count))
    } catch is CancellationError {
      return
    } catch {
      diagnostics.error(options.replay ?? "", errorText(error))
    }
  }
}

@main
enum AgentServe {
  static func main() async {
    let options = ServeOptions.table.parseOrExit(ServeOptions())
    let diagnostics = Diagnostics(program: "agent-serve", verbose: options.isVerbose)
    // A body of 1 MiB and its copies. The C library would first keep next to nothing, and after
    // the largest body twice its size.
    clibc_memory_keep(4 << 20)
    await Server(options: options, address: options.listen, diagnostics: diagnostics).run()
  }
}

extension EndSignals {
  /// The first of TERM, INT and HUP that comes from now on; not HUP under nohup(1).
  static func first() -> Task<Int32, Never> {
    let signals = [SIGTERM, SIGINT] + (clibc_signal_is_ignored(SIGHUP) ? [] : [SIGHUP])
    for number in signals { _ = clibc_signals_watch(number) }
    return Task {
      await withCheckedContinuation { continuation in
        // poll(2) blocks: a thread of its own, not one of the tasks' few.
        OwnThread.require {
          while true {
            if let number = next() { return continuation.resume(returning: number) }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, -1)
          }
        }
      }
    }
  }
}
