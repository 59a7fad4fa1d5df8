import Core

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
      announce("replayed", "\"actions\":\(count)")
    } catch is CancellationError {
      return
    } catch let error as ReadFailure {
      diagnostics.error(options.replay ?? "", error.reason)
    } catch {
      diagnostics.error(options.replay ?? "", Self.reason(error))
    }
  }
}
