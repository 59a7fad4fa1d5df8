import CLibc
import Core
import Records

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The process from its start to its end: store, token, listener, signals.
struct Server {
  /// The command line.
  let options: ServeOptions
  /// Where to listen.
  let address: ListenAddress
  /// Where to complain.
  let diagnostics: Diagnostics

  /// Serves until a signal asks for the end; then leaves with status 0.
  func run() async -> Never {
    // A client that went away, or a file that must not grow, is an error of one
    // write, not of the process.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    Self.raiseDescriptorLimit()
    let token = accessToken()
    let secret = voiceSecret()
    if token == nil && !address.isLoopback {
      diagnostics.fail(
        "\(address.text): refused without a token: not a loopback address (see --token-file)",
        .denied)
    }
    probe(address, Self.listenOption)
    if let gatewayAddress { probe(gatewayAddress, Self.gatewayOption) }
    let recording = options.replay.map(openRecords)
    let incoming = options.ingest.map(openRecords)
    let store = openStore()
    do {
      let feed = try await makeFeed(store)
      if let incoming { try await ingest(incoming, into: store) }
      // Until here a signal ends the process at once, and loses nothing.
      let ended = SignalWait()
      let replies = try await makeGateway(store, token: token)
      let riff = makeRiff(secret, store, replies)
      let backend = try await makeBackend(store, token: token, riff: riff, feed: feed)
      let gateway = await openGateway(replies, backend)
      let listening = await listen(backend)
      feed?.start()
      let pulse = Poller.start { await beat(backend) }
      let embedding = backend.memory.embedder.map { embedder in Task { await embedder.run() } }
      let replay = recording.map { file in Task { await play(file, backend) } }
      _ = await ended.wait()
      diagnostics.note("stopping")
      await listening.close()
      await gateway?.close()
      replay?.cancel()
      pulse.cancel()
      embedding?.cancel()
      await backend.memory.embedder?.stop()
      await stop(backend)
      await feed?.stop()
    } catch {
      diagnostics.fail("the store: \(ErrorText.of(error))")
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
      voice: .voice(streams.voice, store, documents), tickets: Tickets(),
      connections: Connections(descriptors: Self.descriptorLimit, diagnostics: diagnostics),
      riff: riff,
      names: servedNames(token), token: token, backlogLimit: options.backlog,
      diagnostics: diagnostics)
  }

  @Poller
  private func beat(_ backend: ServedBackend) async {
    while !Task.isCancelled {
      await beat(backend.streams.activity) { .stats(backend.stats.json(now: .now())) }
      await beat(backend.streams.voice) { .voiceState(backend.documents.line(.voiceState)) }
      try? await Poller.sleep(for: .milliseconds(100))
    }
  }

  /// - Parameter update: may take a while, and is made elsewhere.
  @Poller
  private func beat(_ hub: Hub, _ update: @escaping @Sendable () -> Frame) async {
    let now = ContinuousClock.now
    guard hub.isUpdateDue(at: now) else { return hub.beat(at: now, update: update) }
    guard let frame = try? await Poller.elsewhere({ update() }) else { return }
    hub.beat(at: now) { frame }
  }

  /// Listens and says so.
  private func listen(_ backend: ServedBackend) async -> Listener {
    do {
      let listener = try await Listener(address, backend)
      let url = "http://\(ListenAddress(address, port: listener.port).text)"
      diagnostics.note("listening on \(url)")
      announce(RecordText(.listening).string("url", url))
      return listener
    } catch {
      fail(address, error, Self.listenOption)
    }
  }

  /// What names another place to listen.
  private static let listenOption = "-l HOST:PORT"
  static let gatewayOption = "--gateway PORT"

  private func probe(_ place: ListenAddress, _ option: String) {
    do { try place.probe() } catch { fail(place, error, option) }
  }

  /// Ends with a word of why nobody can listen there.
  ///
  /// - Parameter option: what to do where another program does.
  func fail(_ place: ListenAddress, _ error: any Error, _ option: String) -> Never {
    let reason = "\(place.text): \(ErrorText.of(error))"
    guard let error = error as? SystemError, error.code == EADDRINUSE else {
      diagnostics.fail(reason)
    }
    diagnostics.fail("\(reason); \(option) names another")
  }

  /// Prints a record of what happened, with the time.
  func announce(_ record: RecordText) {
    if options.isQuiet { return }
    do throws(WriteFailure) {
      let writer = RecordWriter()
      try writer.write(record.time(.now()).line)
      try writer.flush()
    } catch {
      diagnostics.fail(writing: error)
    }
  }

  /// Ends the streams, lets open requests finish, and gives neither more than
  /// a few seconds.
  private func stop(_ backend: ServedBackend) async {
    backend.tickets.close()
    await backend.streams.end()
    await backend.riff?.stop()
    for _ in 0..<300 {
      let streams = await backend.streams.count
      if backend.tickets.count == 0 && streams == 0 { return }
      try? await Poller.sleep(for: .milliseconds(10))
    }
  }
}
