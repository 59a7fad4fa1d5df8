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

extension Server {
  /// The store, in a file that only its owner can read.
  func openStore() -> ActionStore {
    var path = options.database ?? ""
    do {
      if options.database == nil {
        path = try Folders().stateFile("agent-serve.sqlite")
      }
      let mask = umask(0o077)
      defer { umask(mask) }
      return try ActionStore(path: path == ":memory:" ? path : StoreLock.take(path))
    } catch let error as SettingsError {
      diagnostics.fail(error.message, error.status)
    } catch {
      // Who has it locked leaves it again.
      let isBusy = (error as? DatabaseError)?.isBusy == true
      diagnostics.fail("\(path): \(ErrorText.of(error))", isBusy ? .temporary : .failure)
    }
  }

  /// What publishes the actions, where that is asked for.
  ///
  /// - Throws: what SQLite says, and a `SettingsError` for a bus that is not configured.
  func makeFeed(_ store: ActionStore) async throws -> BusFeed? {
    guard let target = options.bus else { return nil }
    do {
      _ = try Settings(diagnostics: diagnostics).bus(target.bus)
    } catch {
      diagnostics.fail(error.message, error.status)
    }
    return try await BusFeed(target, store, diagnostics)
  }

  /// The memory, with the server that makes vectors when one was named.
  func makeMemory(_ store: ActionStore) -> ServedMemory {
    guard let address = options.embedURL.flatMap(EmbedAddress.init) else {
      return ServedMemory(store: store, embedder: nil)
    }
    let model = options.embedModel ?? "nomic-embed-text"
    let embedder = Embedder(store, diagnostics: diagnostics) { EmbedClient(address, model: model) }
    return ServedMemory(store: store, embedder: embedder)
  }

  /// The token that requests need: the option's file, or one of the usual places.
  func accessToken() -> AccessToken? {
    do throws(SettingsError) {
      let secret = try Credentials(folders: Folders()).token(
        option: options.tokenFile, profile: nil)
      return secret.map { AccessToken($0.reveal()) }
    } catch {
      diagnostics.fail(error.message, error.status)
    }
  }

  /// What requests may call this server. A token is something that no page of a
  /// browser has, whatever it calls us; a tunnel calls us by its own name.
  func servedNames(_ token: AccessToken?) -> ServedNames? {
    if token != nil && options.hosts.isEmpty { return nil }
    return ServedNames(options.hosts + address.names)
  }

  #if canImport(Glibc)
    private static let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let descriptors = RLIMIT_NOFILE
  #endif

  /// How many descriptors the process may have.
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
  /// Opens a file of records, or ends the process.
  func openRecords(_ path: String) -> RecordFile {
    do throws(ReadFailure) {
      return try RecordFile(path: path, diagnostics: diagnostics)
    } catch {
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
    } catch let error as ReadFailure {
      diagnostics.fail("\(options.ingest ?? ""): \(error.reason)")
    }
    diagnostics.note("stored \(count) actions of \(options.ingest ?? "")")
  }

  /// Plays a recording and says when it is over.
  func play(_ file: RecordFile, _ backend: ServedBackend) async {
    do {
      let count = try await Playback(
        speed: options.speed, log: backend.log, documents: backend.documents, memory: backend.memory
      ).play(file)
      announce(RecordText(.replayed).number("actions", count))
    } catch is CancellationError {
      return
    } catch let error as ReadFailure {
      diagnostics.error(options.replay ?? "", error.reason)
    } catch {
      diagnostics.error(options.replay ?? "", ErrorText.of(error))
    }
  }
}
