import Core
import Testing

@testable import Agent
@testable import voice_state

/// The samples fill every member that the model knows, or a golden frame would
/// not show what becomes of it.
@Suite struct FullSampleTests {
  /// The members of the model that hold something, and all of them.
  private struct Census {
    var known: Set<String> = []
    var filled: Set<String> = []

    mutating func count(_ value: Any, as name: String) {
      let mirror = Mirror(reflecting: value)
      switch mirror.displayStyle {
      case .optional:
        if let some = mirror.children.first { count(some.value, as: name) }
      case .collection:
        for element in mirror.children { count(element.value, as: name) }
      case .struct where name.hasPrefix("Voice") || "\(type(of: value))".hasPrefix("Voice"):
        for child in mirror.children {
          let member = "\(type(of: value)).\(child.label ?? "?")"
          known.insert(member)
          if Self.isFilled(child.value) { filled.insert(member) }
          count(child.value, as: member)
        }
      default: break
      }
    }

    private static func isFilled(_ value: Any) -> Bool {
      let mirror = Mirror(reflecting: value)
      switch mirror.displayStyle {
      case .optional, .collection: return !mirror.children.isEmpty
      default: return true
      }
    }
  }

  @Test func everyMemberIsFilledBySomeSample() throws {
    var census = Census()
    for name in ["full", "spec", "troubled"] {
      census.count(try VoiceSamples.session(name), as: "VoiceSession")
    }
    #expect(census.known.count > 90)
    // What whoever asks for a session puts in is in none.
    #expect(census.known.subtracting(census.filled).sorted() == ["VoiceSession.guildName"])
  }

  @Test func aMinimalSessionFillsLittle() throws {
    var census = Census()
    census.count(try VoiceSamples.session("minimal"), as: "VoiceSession")
    #expect(census.known.subtracting(census.filled).count > 10)
  }

  @Test(arguments: ["full", "spec"]) func bothSpellingsAreTheSameSession(_ name: String) throws {
    let session = try VoiceSamples.session(name)
    #expect(session.streamWatch?.noteCount == 14)
    #expect(session.streamWatch?.lastNoteModel == "orion-small-4")
    #expect(session.streamWatch?.notePayload?.notes.count == 2)
    #expect(session.lastGenerationContext?.sessionTiming?.maxRemainingMs == 2_049_000)
    #expect(session.toolCalls.map { $0.state } == [.ok, .ok, .failed, .ok, .running])
  }
}
