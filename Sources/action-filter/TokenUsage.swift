import Core
import Records

/// What a model read and wrote for an action, in the spellings that its metadata may
/// have; absent where it does not say.
struct TokenUsage {
  private(set) var input = ScanValue.absent
  private(set) var output = ScanValue.absent

  /// Looks at `usage`, then `responseUsage`, then the metadata itself. The usage inside
  /// `llm` is that of another action, the call behind a reply, and does not count again.
  init(_ metadata: ScanValue) {
    guard metadata.isObject, var members = try? ScanMembers(metadata.bytes) else { return }
    var (usage, response) = (ScanValue.absent, ScanValue.absent)
    while (try? members.next()) == true {
      if members.value.isObject {
        if isKey(members, "usage") {
          usage = members.value
        } else if isKey(members, "responseUsage") {
          response = members.value
        }
      } else if members.value.isNumber {
        add(members)
      }
    }
    let inside = usage.isObject ? usage : response
    guard inside.isObject, var parts = try? ScanMembers(inside.bytes) else { return }
    (input, output) = (.absent, .absent)
    while (try? parts.next()) == true { if parts.value.isNumber { add(parts) } }
  }

  var isSome: Bool {
    [input, output].contains { value in ScanNumber(value).map { !$0.isZero } ?? false }
  }

  private mutating func add(_ members: ScanMembers) {
    if Self.inputs.contains(where: { isKey(members, $0) }) {
      input = members.value
    } else if Self.outputs.contains(where: { isKey(members, $0) }) {
      output = members.value
    }
  }

  private func isKey(_ members: ScanMembers, _ name: StaticString) -> Bool {
    members.isKey(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
  }

  private static let inputs: [StaticString] = [
    "inputTokens", "input_tokens", "promptTokens", "prompt_tokens",
  ]
  private static let outputs: [StaticString] = [
    "outputTokens", "output_tokens", "completionTokens", "completion_tokens",
  ]
}

extension ActionFields {
  var isUsage: Bool {
    if let cost = ScanNumber(cost), !cost.isZero { return true }
    return TokenUsage(metadata).isSome
  }
}
