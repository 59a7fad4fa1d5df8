package import Core

/// A tool that a model may call.
package struct VoiceTool: Sendable {
  package let name: String?
  package let serverName: String?, description: String?
}

/// One call of a tool.
package struct VoiceToolCall: Sendable {
  /// How a call stands.
  package enum State: String, Sendable {
    case running, ok, failed
  }

  package var callId: String?, toolName: String?
  /// `function` or `mcp`.
  package var toolType: String?
  /// Seldom sent: the tool's own server says it too, see `brainTools`.
  package var serverName: String?
  /// An object as a rule.
  package var arguments: JSONValue?
  package var startedAt: Timestamp?, completedAt: Timestamp?
  package var runtimeMs: Double?
  package var success: Bool?
  /// A text or an object.
  package var outputSummary: JSONValue?
  package var error: String?
  /// Whether only events told of it: states do not hold calls that run.
  package var isHeard = false

  /// Failed with an error; else running until it is completed; else what it says.
  package var state: State {
    if error != nil { return .failed }
    if completedAt == nil && success != true { return .running }
    return success == false ? .failed : .ok
  }
}

/// A server of the model context protocol.
package struct VoiceMCPServer: Sendable {
  package let serverName: String?
  package let connected: Bool?
  package let tools: [VoiceTool]
  package let lastError: String?
  package let lastConnectedAt: Timestamp?, lastCallAt: Timestamp?
}
