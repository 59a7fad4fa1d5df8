import Testing

@testable import Shell

@Suite struct SessionMemoryTests {
  @Test func lowestFreeName() {
    #expect(SessionMemory.freeName(taken: []) == "riff-2")
    #expect(SessionMemory.freeName(taken: ["riff", "riff-1", "riff-20"]) == "riff-2")
    #expect(SessionMemory.freeName(taken: ["riff-2", "riff-3", "riff-5"]) == "riff-4")
  }

  @Test func reconcile() {
    var memory = SessionMemory()
    memory.known = ["riff", "riff-3", "riff-2", "x"]
    memory.last = "riff-3"
    let changes = memory.reconcile(with: ["a", "riff-2", "x", "b"], base: "riff")
    #expect(memory.known == ["riff", "riff-2", "x", "a", "b"])
    #expect(memory.last == nil)
    #expect(
      changes.map { $0.kind + " " + $0.name } == [
        "kept riff", "dropped riff-3", "kept riff-2", "kept x", "added a", "added b",
      ])
    #expect(memory.reconcile(with: [], base: "x").filter { $0.kind == "kept" }.map(\.name) == ["x"])
  }

  @Test func fileOfAHost() throws {
    var memory = SessionMemory()
    memory.used("a\"b")
    memory.made("c")
    memory.made("c")
    #expect(SessionMemory(json: Array(memory.json.utf8)) == memory)
    memory.closed("a\"b")
    #expect(memory.known == ["c"] && memory.last == nil)
    #expect(SessionMemory(json: Array("{".utf8)) == nil)
    #expect(SessionMemory(json: Array("{\"known\":[1,\"x\"]}".utf8))?.known == ["x"])
  }

  @Test func nameOfTheFile() throws {
    var options = ConnectOptions()
    options.label = "my/../label"
    let request = LinkRequest(
      destination: try Destination("ada@[::1]:2222"), options: options, identity: nil, pins: "",
      stateFolder: "/state")
    #expect(
      SessionMemory.path(for: request)
        == "/state/sessions-ada@%5b%3a%3a1%5d%3a2222+my%2f..%2flabel")
  }
}
