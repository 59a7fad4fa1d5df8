import Kinds
import Testing

@testable import Agent
@testable import Core

/// What agents of a kind can be asked for, and what is said where they cannot.
@Suite struct AgentBackendTests {
  @Test(arguments: [
    (KindFacts.clanky, AgentCapability.follow, nil), (.clanky, .call, nil),
    (.clanky, .memory, nil), (.clanky, .voice, nil),
    (.clanky, .chat, "a Clanky dashboard takes no messages"),
    (.clanky, .approvals, "a Clanky dashboard asks for no approvals"),
    (.openclaw, .memory, "an OpenClaw gateway has no memory to search"),
    (.openclaw, .call, nil), (.openclaw, .chat, nil),
    (.pincer, .call, nil), (.pincer, .follow, nil), (.pincer, .chat, nil),
    (.pincer, .approvals, nil),
    (.pincer, .voice, "a Pincer server has no voice sessions"),
    (.joelclaw, .chat, nil), (.joelclaw, .follow, nil), (.joelclaw, .call, nil),
    (.joelclaw, .memory, "a joelclaw gateway has no memory to search"),
    (.riff, .follow, "a riff voice server has no events to follow"),
  ])
  func whatIsInTheWay(kind: KindFacts, capability: AgentCapability, words: String?) {
    #expect(kind.obstacle(to: capability, in: "x") == words)
  }

  @Test func theProfileIsNamed() throws {
    try Settings.Profile(name: "home").require(.memory, for: "x")
    let claw = Settings.Profile(name: "claw", kind: .openclaw)
    #expect(throws: Failure("claw", "an OpenClaw gateway has no voice sessions")) {
      try claw.require(.voice, for: "x")
    }
    #expect(throws: Failure("AGENT_URL", "a Clanky dashboard takes no messages")) {
      try Settings.Profile(place: .url("http://a")).require(.chat, for: "x")
    }
  }
}
