import Testing

@testable import Shell

@Suite struct AgentMessageTests {
  private static func string(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count)] + bytes }

  private static func framed(_ body: [UInt8]) -> [UInt8] { string(body) }

  @Test func questions() {
    #expect(AgentMessage.listRequest == [0, 0, 0, 1, 11])
    let request = [UInt8]("data".utf8).withUnsafeBytes {
      AgentMessage.signRequest([1, 2], data: $0)
    }
    #expect(
      request == [0, 0, 0, 19, 13, 0, 0, 0, 2, 1, 2, 0, 0, 0, 4] + Array("data".utf8) + [
        0, 0, 0, 0,
      ])
  }

  @Test func lengths() {
    #expect(AgentMessage.length([0, 0, 0]) == nil)
    #expect(AgentMessage.length([0, 0, 0, 1]) == 5)
    #expect(AgentMessage.length([0, 0, 0, 0]) == 0)
    #expect(AgentMessage.length([0xff, 0, 0, 0]) == 0)
  }

  @Test func keys() {
    let answer = Self.framed(
      [12, 0, 0, 0, 2] + Self.string([1, 2, 3]) + Self.string(Array("ada".utf8)) + Self.string([4])
        + Self.string([]))
    #expect(
      AgentMessage.keys(answer) == [
        AgentMessage.Key(blob: [1, 2, 3], comment: "ada"), AgentMessage.Key(blob: [4], comment: ""),
      ])
    #expect(AgentMessage.keys(Self.framed([12, 0, 0, 0, 0])) == [])
    // SSH_AGENT_FAILURE, and everything that is cut off.
    #expect(AgentMessage.keys(Self.framed([5])) == nil)
    for count in 0..<answer.count { #expect(AgentMessage.keys(Array(answer[..<count])) == nil) }
    #expect(AgentMessage.keys(Self.framed([12, 0xff, 0xff, 0xff, 0xff])) == nil)
  }

  @Test func signatures() {
    let signature = Self.string(Array("ssh-ed25519".utf8)) + Self.string([9, 8, 7])
    let answer = Self.framed([14] + Self.string(signature))
    #expect(AgentMessage.signature(answer) == [9, 8, 7])
    #expect(AgentMessage.signature(Self.framed([5])) == nil)
    for count in 0..<answer.count {
      #expect(AgentMessage.signature(Array(answer[..<count])) == nil)
    }
  }
}
