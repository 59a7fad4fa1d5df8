import Core
import Records

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
