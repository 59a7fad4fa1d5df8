import Core
import Dispatch
import Records
import Web

/// Asks a server for the vectors of texts, in the form of OpenAI's
/// `POST /v1/embeddings`, which Ollama and llama.cpp speak too.
final class EmbedClient: @unchecked Sendable {
  /// The model that is named to the server.
  let model: String
  private let address: WebAddress
  private let queue = DispatchQueue(label: "agent-serve.embed")
  // Touched on the queue alone.
  private var client: WebClient?

  /// - Parameters:
  ///   - address: the endpoint, see `endpoint(_:)`.
  ///   - model: the model.
  init(_ address: WebAddress, model: String) {
    self.address = address
    self.model = model
  }

  /// The endpoint of a server: a URL that ends in `/embeddings` is one, behind
  /// any other the rest of `/v1/embeddings` is added.
  ///
  /// - Throws: `AddressError`.
  static func endpoint(_ url: String) throws(AddressError) -> WebAddress {
    let address = try WebAddress(url)
    let path = address.text.split(separator: "?", maxSplits: 1)[0]
    let bare = path.hasSuffix("/") ? path.dropLast() : path
    if bare.hasSuffix("/embeddings") { return address }
    return try address.appending(bare.hasSuffix("/v1") ? "embeddings" : "v1/embeddings")
  }

  /// The vectors of texts, of length 1.
  ///
  /// - Parameters:
  ///   - texts: at least one.
  ///   - seconds: the longest wait for the whole answer.
  /// - Throws: `EmbedFault`.
  func vectors(of texts: [String], seconds: Double) async throws(EmbedFault) -> [[Float]] {
    let result: Result<[[Float]], EmbedFault> = await withCheckedContinuation { continuation in
      // libcurl's loop blocks: a thread of its own, not one of the tasks' few.
      queue.async {
        continuation.resume(returning: self.ask(texts, seconds))
      }
    }
    return try result.get()
  }

  private func ask(_ texts: [String], _ seconds: Double) -> Result<[[Float]], EmbedFault> {
    client = client ?? WebClient(agent: "agent-serve/\(suiteVersion)", connectTimeout: seconds)
    guard let client else { return .failure(EmbedFault("out of memory")) }
    let request = Request(
      address, method: "POST", headers: [Header("Content-Type", "application/json")],
      body: RecordText().string("model", model).strings("input", texts).bytes)
    var end: FetchEnd?
    let began = Clock.monotonic
    let fetch = Fetch(client, request, now: began, silence: seconds, limit: 1 << 28) { end = $0 }
    while end == nil {
      client.perform()
      let now = Clock.monotonic
      if end != nil { break }
      if now - began >= seconds {
        fetch.cancel()
        return .failure(EmbedFault("no answer in \(JSONText.number(seconds)) s"))
      }
      let due = fetch.tick(now: now)
      if end == nil { client.wait(seconds: min(due, began + seconds) - now) }
    }
    switch end {
    case .response(let head, let body) where head.status == 200:
      return Self.read(body, count: texts.count)
    case .response(let head, _):
      let isOurs = (400..<500).contains(head.status) && !head.isTransient
      return .failure(EmbedFault("status \(head.summary)", isRefusal: isOurs))
    case .failed(let reason), .unusable(let reason): return .failure(EmbedFault(reason))
    case nil: return .failure(EmbedFault("no answer"))
    }
  }

  /// Reads `{"data":[{"index":0,"embedding":[...]}]}`.
  ///
  /// - Parameters:
  ///   - body: the answer.
  ///   - count: the number of texts.
  static func read(_ body: [UInt8], count: Int) -> Result<[[Float]], EmbedFault> {
    body.withUnsafeBytes { bytes in
      guard UTF8Text.isValid(bytes), ScanValidator.isValue(bytes), let answer = ScanObject(bytes)
      else { return .failure(EmbedFault("the answer is not a JSON object")) }
      var vectors = [[Float]](repeating: [], count: count)
      for (place, row) in answer.objects("data").enumerated() {
        let index = row.integer("index") ?? place
        guard vectors.indices.contains(index), let vector = vector(row["embedding"].bytes) else {
          return .failure(EmbedFault("the answer holds no vectors"))
        }
        vectors[index] = vector
      }
      guard let width = vectors.first?.count, width > 0,
        vectors.allSatisfy({ $0.count == width })
      else { return .failure(EmbedFault("the answer does not hold a vector for each text")) }
      return .success(vectors)
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

/// Why there are no vectors.
struct EmbedFault: Error, Equatable {
  /// One line.
  let reason: String
  /// Whether the server refuses these texts, and a later try would change
  /// nothing.
  var isRefusal = false

  /// - Parameters:
  ///   - reason: one line.
  ///   - isRefusal: whether the texts are what is wrong.
  init(_ reason: String, isRefusal: Bool = false) {
    self.reason = reason
    self.isRefusal = isRefusal
  }
}
