import Core
import Records

/// Gives every fact that can be searched its vector, in the background: a fact
/// is stored and found by its words first, whatever becomes of its vector.
actor Embedder {
  private static let batch = 64
  /// The longest wait for the vectors of a batch, seconds.
  private static let patience = 60.0
  private static let hurry = 3.0

  private let store: ActionStore
  private let index = Guarded(VectorIndex())
  private let batches: EmbedClient
  // Of its own, so that a query does not wait for a batch.
  private let queries: EmbedClient
  private let diagnostics: Diagnostics
  private var restsUntil = 0.0
  private let bell: AsyncStream<Void>
  private let ring: AsyncStream<Void>.Continuation

  init(_ store: ActionStore, _ address: EmbedAddress, model: String, _ diagnostics: Diagnostics) {
    (self.store, self.diagnostics) = (store, diagnostics)
    batches = EmbedClient(address: address, model: model)
    queries = EmbedClient(address: address, model: model)
    (bell, ring) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  private typealias Pending = (id: Int64, revision: Int64, guild: String, text: String)

  nonisolated func wake() { ring.yield() }

  nonisolated func forget(_ id: Int64) { index.withLock { $0.remove(id) } }

  /// Nil when the server does not answer in time.
  func nearest(_ text: String, in guild: String, limit: Int) async -> [(id: Int64, cosine: Float)]?
  {
    // After a failure searches do not wait for the next one.
    if index.withLock({ $0.count }) == 0 || Clock.monotonic < restsUntil { return nil }
    do throws(Failure) {
      let vectors = try await queries.vectors(of: [text], seconds: Self.hurry)
      return index.withLock { $0.nearest(vectors[0], in: guild, limit: limit) }
    } catch {
      restsUntil = Clock.monotonic + 5
      diagnostics.note("embeddings: \(error.reason)")
      return nil
    }
  }

  func stop() async {
    await batches.stop()
    await queries.stop()
  }

  func run() async {
    do { try await load() } catch { diagnostics.error("embeddings", errorText(error)) }
    ring.yield()
    var delay = 0.5
    for await _ in bell {
      while !Task.isCancelled {
        do {
          try await pass()
          if delay > 0.5 { diagnostics.error("embeddings", "the server answers again") }
          delay = 0.5
          break
        } catch {
          let reason = (error as? Failure)?.reason ?? errorText(error)
          if delay == 0.5 { diagnostics.error("embeddings", "\(reason); searching by words") }
          try? await Poller.sleep(for: .seconds(delay))
          delay = min(delay * 2, 60)
        }
      }
    }
  }

  private func load() async throws {
    let model = batches.model
    let index = index
    try await store.read { db in
      let rows = try db.rows(
        sql: """
          SELECT v.fact_id, f.guild_id, v.vector FROM memory_vectors v
          JOIN memory_facts f ON f.id = v.fact_id WHERE v.model = ? AND f.deleted_at IS NULL
          """, arguments: [model])
      while let row = try rows.next() {
        let data: [UInt8] = row[2]
        index.withLock { $0.set(Self.numbers(data), of: row[0], in: row[1] ?? "") }
      }
    }
  }

  private func pass() async throws {
    var after: Int64 = 0
    while true {
      let last = after
      let model = batches.model
      let pending = try await store.read { try Self.pending(after: last, model, $0) }
      guard let end = pending.last else { return }
      do throws(Failure) {
        try await embed(pending)
      } catch {
        guard !error.mayPass else { throw error }
        // One of them is more than the server can receive: the others shall not wait
        // for it.
        for one in pending {
          do throws(Failure) {
            try await embed([one])
          } catch {
            guard !error.mayPass else { throw error }
            diagnostics.note("embeddings: fact \(one.id): \(error.reason)")
          }
        }
      }
      after = end.id
    }
  }

  private static func pending(after id: Int64, _ model: String, _ db: Database) throws -> [Pending]
  {
    try db.rows(
      sql: """
        SELECT f.id, f.revision, f.guild_id, f.fact, f.evidence_text FROM memory_facts f
        WHERE f.id > ? AND f.deleted_at IS NULL AND f.scope = 'guild' AND NOT EXISTS
          (SELECT 1 FROM memory_vectors v WHERE v.fact_id = f.id AND v.model = ?)
        ORDER BY f.id LIMIT \(batch)
        """, arguments: [id, model]
    ).map { row in
      let evidence: String? = row[4]
      let text: String = row[3]
      return (row[0], row[1], row[2] ?? "", evidence.map { "\(text)\n\($0)" } ?? text)
    }
  }

  private func embed(_ pending: [Pending]) async throws(Failure) {
    let vectors = try await batches.vectors(of: pending.map(\.text), seconds: Self.patience)
    let model = batches.model
    let isNew = !index.withLock { $0.accepts(width: vectors[0].count) }
    do {
      let kept = try await store.write { db in
        // The same name for another model: its old vectors mean nothing now.
        if isNew { try db.execute(sql: "DELETE FROM memory_vectors") }
        return try zip(pending, vectors).compactMap { fact, vector in
          // While the server thought the fact may have been edited or deleted.
          try db.execute(
            sql: """
              INSERT OR REPLACE INTO memory_vectors (fact_id, model, vector)
              SELECT id, ?, ? FROM memory_facts
              WHERE id = ? AND revision = ? AND deleted_at IS NULL
              """, arguments: [model, Self.data(vector), fact.id, fact.revision])
          return db.changesCount > 0 ? (fact, vector) : nil
        }
      }
      // While nobody can write: whoever edits or deletes a fact takes its vector from the store,
      // and then from the index.
      try await store.write { [index] db in
        if isNew { index.withLock { $0.clear() } }
        for (fact, vector) in kept {
          let isThere = try db.value(
            Int64.self, sql: "SELECT fact_id FROM memory_vectors WHERE fact_id = ?",
            arguments: [fact.id])
          if isThere != nil { index.withLock { $0.set(vector, of: fact.id, in: fact.guild) } }
        }
      }
    } catch {
      throw Failure(errorText(error), mayPass: true)
    }
    if isNew { wake() }
  }

  /// 32-bit floats of this machine, one after the other.
  static func data(_ vector: [Float]) -> [UInt8] { vector.withUnsafeBytes { Array($0) } }

  static func numbers(_ data: [UInt8]) -> [Float] {
    var numbers = [Float](repeating: 0, count: data.count / MemoryLayout<Float>.size)
    numbers.withUnsafeMutableBytes { $0.copyBytes(from: data.prefix($0.count)) }
    return numbers
  }
}

struct VectorIndex {
  private var width = 0
  private var numbers: [Float] = []
  private var ids: [Int64] = []
  private var groups: [Int32] = []
  private var places: [Int64: Int] = [:]
  private var names: [String: Int32] = [:]

  var count: Int { ids.count }

  func accepts(width: Int) -> Bool { ids.isEmpty || self.width == width }

  mutating func set(_ vector: [Float], of id: Int64, in guild: String) {
    if ids.isEmpty { width = vector.count }
    guard vector.count == width, width > 0 else { return }
    let group = names[guild] ?? Int32(names.count)
    names[guild] = group
    if let place = places[id] {
      numbers.replaceSubrange(place * width..<(place + 1) * width, with: vector)
      groups[place] = group
    } else {
      places[id] = ids.count
      ids.append(id)
      groups.append(group)
      numbers += vector
    }
  }

  mutating func remove(_ id: Int64) {
    guard let place = places.removeValue(forKey: id), let last = ids.last else { return }
    // The last one takes its place.
    if last != id {
      for offset in 0..<width {
        numbers[place * width + offset] = numbers[(ids.count - 1) * width + offset]
      }
      ids[place] = last
      groups[place] = groups[ids.count - 1]
      places[last] = place
    }
    ids.removeLast()
    groups.removeLast()
    numbers.removeLast(width)
  }

  mutating func clear() { (width, numbers, ids, groups, places) = (0, [], [], [], [:]) }

  /// The facts of a guild that are likest to a vector, the likest first.
  func nearest(_ vector: [Float], in guild: String, limit: Int) -> [(id: Int64, cosine: Float)] {
    guard let group = names[guild], vector.count == width, width > 0 else { return [] }
    var found: [(id: Int64, cosine: Float)] = []
    var least = -Float.infinity
    numbers.withUnsafeBufferPointer { numbers in
      vector.withUnsafeBufferPointer { vector in
        for place in ids.indices where groups[place] == group {
          let cosine = Self.product(
            UnsafeBufferPointer(rebasing: numbers[place * width..<(place + 1) * width]), vector)
          if cosine <= least { continue }
          found.append((ids[place], cosine))
          // Sorted now and then: the cost of a heap without one.
          if found.count >= limit * 4 {
            found = Self.best(found, limit)
            least = found.last?.cosine ?? least
          }
        }
      }
    }
    return Self.best(found, limit)
  }

  private static func best(
    _ found: [(id: Int64, cosine: Float)], _ limit: Int
  ) -> [(id: Int64, cosine: Float)] {
    Array(found.sorted { ($0.cosine, $1.id) > ($1.cosine, $0.id) }.prefix(limit))
  }

  /// Eight sums at a time, which the compiler makes vectors of.
  private static func product(
    _ a: UnsafeBufferPointer<Float>, _ b: UnsafeBufferPointer<Float>
  ) -> Float {
    var sums = SIMD8<Float>(repeating: 0)
    var index = 0
    while index + 8 <= a.count {
      var left = SIMD8<Float>()
      var right = SIMD8<Float>()
      for lane in 0..<8 {
        left[lane] = a[index + lane]
        right[lane] = b[index + lane]
      }
      sums += left * right
      index += 8
    }
    var sum = sums.sum()
    while index < a.count {
      sum += a[index] * b[index]
      index += 1
    }
    return sum
  }
}

struct EmbedAddress: Equatable, Sendable {
  let text: String

  init?(_ url: String) {
    let lower = url.lowercased()
    guard let scheme = ["http://", "https://"].first(where: lower.hasPrefix),
      url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f })
    else { return nil }
    let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var path = parts[0].split(separator: "#", omittingEmptySubsequences: false)[0]
    let server = path.dropFirst(scheme.count).prefix { $0 != "/" }
    // A user's name and password may stand before it.
    let host = server.lastIndex(of: "@").map { server[server.index(after: $0)...] } ?? server
    guard Authority(String(host)) != nil else { return nil }
    if path.hasSuffix("/") { path = path.dropLast() }
    let rest =
      path.hasSuffix("/embeddings") ? "" : path.hasSuffix("/v1") ? "/embeddings" : "/v1/embeddings"
    text = path + rest + (parts.count > 1 && rest.isEmpty ? "?\(parts[1])" : "")
  }
}

/// Asks a server for the vectors of texts, in the form of OpenAI's
/// `POST /v1/embeddings`, which Ollama and llama.cpp speak too: by curl(1), so that a server
/// without vectors loads none of the thirty libraries that HTTPS and proxies need.
struct EmbedClient: Sendable {
  /// What is read of an answer, bytes.
  private static let answerLimit = 1 << 28
  /// The first line is for curl's eyes: an argument could be read by others. The texts follow.
  private static let command = """
    IFS= read -r line || exit
    exec 3<&0
    printf '%s\\n' "$line" | curl -q --config - --silent --show-error --location \
      --proto '=http,https' --max-time "$1" --user-agent "$2" --data-binary @/dev/fd/3 \
      --header 'Content-Type: application/json' --header Expect: --write-out '\\n%{http_code}'
    """

  let address: EmbedAddress
  let model: String
  private let queue = CommandQueue(limit: 1, waitLimit: 64)

  /// The vectors of texts, of length 1.
  func vectors(of texts: [String], seconds: Double) async throws(Failure) -> [[Float]] {
    let quoted = address.text.flatMap { $0 == "\\" || $0 == "\"" ? "\\\($0)" : "\($0)" }
    let body = RecordText().string("model", model).strings("input", texts).bytes
    let input = Array("url = \"\(String(quoted))\"\n".utf8) + body
    let arguments = [JSONText.number(seconds), "agent-serve/\(suiteVersion)"]
    let made = await queue.run {
      // curl tells more of a time that is over than we do.
      CommandProcess(
        Self.command, arguments: arguments, input: input, seconds: seconds + 1,
        limit: Self.answerLimit)
    }
    let output: [UInt8]
    switch made {
    case .done(let bytes): output = bytes
    case .failed(let complaint): throw Failure(Self.reason(complaint), mayPass: true)
    case .busy: throw Failure("too many searches wait", mayPass: true)
    }
    let line = output.lastIndex(of: 10) ?? output.startIndex
    let status = Int(String(decoding: output[line...].dropFirst(), as: UTF8.self)) ?? 0
    guard status == 200 else {
      let isOurs = (400..<500).contains(status) && ![408, 425, 429].contains(status)
      throw Failure("status \(status)", mayPass: !isOurs)
    }
    return try Self.read(Array(output[..<line]), count: texts.count)
  }

  func stop() async { await queue.stop() }

  private static func reason(_ complaint: String) -> String {
    if complaint.hasPrefix("exit status 127") { return "curl is not installed" }
    guard let words = complaint.place(of: "curl: ("),
      let number = complaint[words.upperBound...].firstIndex(of: ")")
    else { return complaint }
    return complaint[number...].dropFirst().trimmingBlanks()
  }

  /// Reads `{"data":[{"index":0,"embedding":[...]}]}`.
  static func read(_ body: [UInt8], count: Int) throws(Failure) -> [[Float]] {
    try body.withUnsafeBufferPointer { body throws(Failure) in
      let bytes = UnsafeRawBufferPointer(body)
      guard UTF8Text.isValid(bytes), ScanValidator.isValue(bytes), let answer = ScanObject(bytes)
      else { throw Failure("the answer is not a JSON object", mayPass: true) }
      var vectors = [[Float]](repeating: [], count: count)
      for (place, row) in answer.objects("data").enumerated() {
        let index = row.integer("index") ?? place
        guard vectors.indices.contains(index), let vector = vector(row["embedding"].bytes) else {
          throw Failure("the answer holds no vectors", mayPass: true)
        }
        vectors[index] = vector
      }
      guard let width = vectors.first?.count, width > 0,
        vectors.allSatisfy({ $0.count == width })
      else { throw Failure("the answer does not hold a vector for each text", mayPass: true) }
      return vectors
    }
  }

  /// An array of numbers, scaled to the length 1; nil for anything else.
  private static func vector(_ bytes: UnsafeRawBufferPointer) -> [Float]? {
    var vector: [Float] = []
    do throws(ScanFault) {
      var elements = try ScanElements(bytes)
      while try elements.next() {
        guard elements.value.isNumber, let text = elements.value.string, let number = Float(text),
          number.isFinite
        else { return nil }
        vector.append(number)
      }
    } catch {
      return nil
    }
    // No square of a Float is too large for a Double, nor too small.
    let length = vector.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
    return length > 0 ? vector.map { Float(Double($0) / length) } : vector
  }
}
