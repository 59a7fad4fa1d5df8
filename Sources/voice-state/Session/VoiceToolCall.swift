import Core

/// A tool that a model may call.
struct VoiceTool: Sendable {
  let name: String?
  /// `function` or `mcp`.
  let toolType: String?
  let serverName: String?, description: String?

  init(_ value: JSONValue) {
    name = value.text("name")
    toolType = value.text("toolType")
    serverName = value.text("serverName")
    description = value.text("description")
  }
}

/// One call of a tool.
struct VoiceToolCall: Sendable {
  /// How a call stands.
  enum State: String, Sendable {
    case running, ok, failed
  }

  let callId: String?, toolName: String?
  /// `function` or `mcp`.
  let toolType: String?
  /// Seldom sent: the tool's own server says it too, see `brainTools`.
  let serverName: String?
  /// An object as a rule.
  let arguments: JSONValue?
  let startedAt: Timestamp?, completedAt: Timestamp?
  let runtimeMs: Double?
  let success: Bool?
  /// A text or an object.
  let outputSummary: JSONValue?
  let error: String?

  init(_ value: JSONValue) {
    callId = value.text("callId")
    toolName = value.text("toolName")
    toolType = value.text("toolType")
    serverName = value.text("serverName")
    arguments = value[either: "arguments"]
    startedAt = value.time("startedAt")
    completedAt = value.time("completedAt")
    runtimeMs = value.double("runtimeMs")
    success = value.bool("success")
    outputSummary = value[either: "outputSummary"]
    error = value.text("error") ?? value.part({ $0.text("message", "code") }, "error") ?? nil
  }

  /// Failed with an error; else running until it is completed; else what it says.
  var state: State {
    if error != nil { return .failed }
    if completedAt == nil && success != true { return .running }
    return success == false ? .failed : .ok
  }
}

/// A server of the model context protocol.
struct VoiceMCPServer: Sendable {
  let serverName: String?
  let connected: Bool?
  let tools: [VoiceTool]
  let lastError: String?
  let lastConnectedAt: Timestamp?, lastCallAt: Timestamp?

  init(_ value: JSONValue) {
    serverName = value.text("serverName")
    connected = value.bool("connected")
    tools = value.list(VoiceTool.init, "tools")
    lastError = value.text("lastError")
    lastConnectedAt = value.time("lastConnectedAt")
    lastCallAt = value.time("lastCallAt")
  }
}
