import Core
import Records
import Web

/// A personal data server (Agent/PDS/CONTRACT.md).
struct PDSBackend: AgentBackend {
  let name = "a personal data server"
  let has: Set<AgentCapability> = [.follow, .chat, .records]
  let carriesToken = false

  func chat(with agent: AgentAccess, _ wishes: ChatWishes) throws(Failure) -> any ChatLine {
    PDSChat(try PDSAccess(agent), agent.origin(.joelclaw), wishes)
  }

  /// What changes in the repository of the profile's identifier; of a thread, which is a
  /// collection here, that alone.
  func events(of agent: AgentAccess, _ wishes: FollowWishes) throws(Failure) -> FollowedStream {
    let collections = try wishes.thread.map { name throws(Failure) in
      guard let collection = NSID(name) else {
        throw Failure(name, "not the name of a collection")
      }
      return [collection]
    }
    // Others are to be followed, too.
    return try PDSAccess(agent).stream(
      of: nil, collections ?? [], from: wishes.from, state: wishes.state,
      PDSLimits(timeout: 10, maxRetries: 0), Diagnostics(program: agent.client.agent))
  }
}
