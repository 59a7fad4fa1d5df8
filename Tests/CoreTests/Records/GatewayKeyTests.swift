import Records
import Testing

@Suite("session keys of OpenClaw") struct GatewayKeyTests {
  private func text(_ key: String, isGlobal: Bool = false) -> String? {
    GatewayKey(key)?.text(agent: "heron", mainKey: "Harbour", isGlobal: isGlobal)
  }

  // What version 2026.9.6 makes of them.
  @Test(
    "a key is written as the gateway writes it",
    arguments: [
      ("Work", "agent:heron:work"), (" Work\t", "agent:heron:work"),
      ("Größe", "agent:heron:größe"), ("AGENT:Stoat:X:Y", "agent:stoat:x:y"),
      ("agent:Sea Stoat!:x", "agent:sea-stoat:x"), ("agent:Stoat:", "agent:stoat:"),
      ("agent:stoat::x", "agent:stoat::x"), ("agent::x", "agent::x"),
      ("main", "agent:heron:harbour"), ("HARBOUR", "agent:heron:harbour"),
      ("agent:stoat:Main", "agent:stoat:harbour"), ("Global", "global"), ("UNKNOWN", "unknown"),
      ("agent:stoat:global", "agent:stoat:global"),
      ("Signal:Group:AbC=:Thread:T", "agent:heron:signal:group:AbC=:thread:t"),
      ("x:signal:group:AbC", "agent:heron:x:signal:group:AbC"),
      ("xsignal:group:AbC", "agent:heron:xsignal:group:abc"),
      (
        "agent:Stoat:Matrix:Channel:!AbC:Example.Org", "agent:stoat:matrix:channel:!AbC:Example.Org"
      ),
      ("matrix:group:!A:B:THREAD:$Ev", "agent:heron:matrix:group:!A:B:thread:$Ev"),
      ("matrix:direct:@Ada", "agent:heron:matrix:direct:@ada"),
    ])
  func canonical(_ key: String, _ expected: String) {
    #expect(text(key) == expected)
  }

  @Test("where one conversation is for all")
  func global() {
    #expect(text("MAIN", isGlobal: true) == "global")
    #expect(text("agent:stoat:harbour", isGlobal: true) == "global")
    #expect(text("work", isGlobal: true) == "agent:heron:work")
    #expect(GatewayKey(" \n") == nil)
  }
}
