import Core
import Records
import Web

/// A personal data server (Agent/PDS/CONTRACT.md).
struct PDSBackend: AgentBackend {
  let name = "a personal data server"
  let has: Set<AgentCapability> = [.follow, .chat, .records]
  var speaks: Set<AgentCapability> { has }
  let carriesToken = false

  func chat(with agent: AgentAccess, _ wishes: ChatWishes) throws(Failure) -> any ChatLine {
    PDSChat(try PDSAccess(agent), agent.origin(.joelclaw), wishes)
  }

  /// What changes in the repository of the profile's identifier; of a thread, which is a
  /// collection here, that alone.
  func events(
    of agent: AgentAccess, _ wishes: FollowWishes
  ) throws(Failure) -> FollowedStream {
    let collections = try wishes.thread.map { name throws(Failure) in
      guard let collection = NSID(name) else {
        throw Failure(name, "not the name of a collection")
      }
      return [collection]
    }
    let access = try PDSAccess(agent)
    let firehose: PDSFirehose
    // Others are to be followed, too.
    var limits = PDSLimits()
    (limits.timeout, limits.maxRetries) = (10, 0)
    do throws(Failure) {
      firehose = try PDSFirehose(
        access, repository: nil, limits, Diagnostics(program: agent.client.agent))
    } catch {
      throw Failure(name, error.message, error.status)
    }
    return try firehose.stream(of: collections ?? [], from: wishes.from, state: wishes.state)
  }
}
