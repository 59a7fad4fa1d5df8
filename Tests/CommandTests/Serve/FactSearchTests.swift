import Core
import Foundation
import Testing

@testable import agent_serve

@Suite("Searching facts")
struct FactSearchTests {
  @Test(
    "The words of a text",
    arguments: [
      ("The Key, the KEY!", "the key the key"), ("Ärger über Straßen", "arger uber strassen"),
      ("日本語", "日本 本語 語"), ("鍵", "鍵 鍵"), ("USBケーブル2本", "usb ケー ーブ ブル ル 2 本 本"),
      ("ＡＢＣ１２", "abc12"), ("مُحَمَّد", "محمد"), ("don't", "don t"), ("", ""), ("\"*^()-:", ""),
      ("tea🥜ok", "tea 🥜 ok"), ("が", "が が"), ("고양이를", "고양 양이 이를 를"), ("ﬁn", "fin"),
    ])
  func words(_ text: String, _ want: String) {
    // A character alone is both the run and its end in the index.
    let got = FactWords.indexed(text)
    let short = want.split(separator: " ")
    #expect(got == want || Set(got.split(separator: " ")) == Set(short), "\(got)")
  }

  @Test("Words of a query stand once, and are not too many")
  func query() {
    #expect(FactWords.query("a b a B 鍵 日本語") == ["a", "b", "鍵", "日本", "本語"])
    #expect(FactWords.query(String(repeating: "x y z ", count: 5000)).count == 3)
    #expect(FactWords.query((0..<100).map { "w\($0)" }.joined(separator: " ")).count == 24)
    #expect(FactWords.isPrefix("abc"))
    #expect(!FactWords.isPrefix("ab"))
    #expect(FactWords.isPrefix("鍵"))
    #expect(!FactWords.isPrefix("日本"))
  }

  private func match(_ id: Int64, lexical: Double = 0) -> FactMatch {
    FactMatch(
      fact: StoredFact(
        id: id, createdAt: "", updatedAt: "", scope: "guild", subject: "s", text: "t",
        type: "other", confidence: 1), lexical: lexical)
  }

  @Test("Two rankings are fused by reciprocal rank")
  func fusion() {
    let fused = FactMatch.fused(
      [match(1, lexical: 0.9), match(2, lexical: 0.2), match(3)], [match(2), match(4)])
    #expect(fused.map(\.fact.id) == [2, 1, 4, 3])
    #expect(abs(fused[0].score - (61.0 / 62 + 1) / 2) < 1e-12)
    #expect(fused[0].lexical == 0.2)
    #expect(fused[1].score == 0.5)
    #expect(FactMatch.fused([match(1)], [match(1)]).first?.score == 1)
    #expect(FactMatch.fused([], []).isEmpty)
  }

  @Test("What a limit is echoed as, and how many results it means")
  func limits() {
    func limits(_ text: String) -> [String] {
      let search = FactSearch(QueryParameters(text))
      return [search.limit, "\(search.count)"]
    }
    #expect(limits("") == ["10", "10"])
    #expect(limits("limit=") == ["10", "10"])
    #expect(limits("limit=abc") == ["null", "10"])
    #expect(limits("limit=99") == ["99", "24"])
    #expect(limits("limit=-2.5") == ["-2.5", "1"])
  }

  @Test("The nearest vectors, of a guild, after sets and removals")
  func vectors() {
    var index = VectorIndex()
    let width = 11
    func vector(_ angle: Double) -> [Float] {
      [Float(cos(angle)), Float(sin(angle))] + [Float](repeating: 0, count: width - 2)
    }
    #expect(index.nearest(vector(0), in: "1", limit: 3).isEmpty)
    for id in 1...40 {
      index.set(vector(Double(id) / 40), of: Int64(id), in: id % 2 == 0 ? "1" : "2")
    }
    #expect(index.nearest(vector(0), in: "1", limit: 3).map(\.id) == [2, 4, 6])
    index.remove(2)
    index.remove(40)
    index.remove(99)
    index.set(vector(0), of: 38, in: "1")
    let near = index.nearest(vector(0), in: "1", limit: 2)
    #expect(near.map(\.id) == [38, 4])
    #expect(abs(near[0].cosine - 1) < 1e-6)
    #expect(index.nearest(vector(1), in: "2", limit: 1).map(\.id) == [39])
    #expect(index.count == 38)
    // A vector of another model is not compared.
    #expect(!index.accepts(width: 3))
    #expect(index.nearest([1, 0, 0], in: "1", limit: 1).isEmpty)
    index.clear()
    #expect(index.accepts(width: 3))
  }

  @Test("Answers of a server of vectors")
  func answers() throws {
    func read(_ text: String, _ count: Int) throws(Failure) -> [[Float]] {
      try EmbedClient.read(Array(text.utf8), count: count)
    }
    #expect(
      try read(#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}"#, 2)
        == [[0.6, 0.8], [0, 1]])
    #expect(
      try read(#"{"data":[{"embedding":[1]},{"embedding":[-1e0]}]}"#, 2) == [[1], [-1]])
    for text in [
      "", "[]", "{}", "<html>", #"{"data":[]}"#, #"{"data":[{"index":2,"embedding":[1]}]}"#,
      #"{"data":[{"index":0,"embedding":["1"]}]}"#, #"{"data":[{"index":0,"embedding":[1e99]}]}"#,
      #"{"data":[{"index":0,"embedding":"AAAA"}]}"#, #"{"data":[{"index":0,"embedding":[]}]}"#,
    ] {
      #expect(throws: Failure.self, "\(text)") { try read(text, 1) }
    }
    #expect(throws: Failure.self) {
      try read(#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#, 2)
    }
  }

  @Test(
    "The endpoint of a server",
    arguments: [
      "http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/embeddings",
    ])
  func endpoints(_ url: String) {
    #expect(EmbedAddress(url)?.text == "http://h:1/v1/embeddings")
  }

  @Test("What is not the address of a server")
  func noEndpoints() {
    for url in [
      "", "h:1", "ftp://h", "http://", "http:///v1", "http://h:x", "http://h /", "http://h\u{1b}",
    ] {
      #expect(EmbedAddress(url) == nil, "\(url)")
    }
    #expect(EmbedAddress("HTTPS://u:p@h/x?a=b")?.text == "HTTPS://u:p@h/x/v1/embeddings")
    #expect(
      EmbedAddress("http://[::1]:2/a/embeddings?k=v")?.text == "http://[::1]:2/a/embeddings?k=v")
  }
}
