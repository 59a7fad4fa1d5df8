import Core

/// A tool that a model may call.
struct VoiceTool: Sendable {
  let name: String?
  let serverName: String?, description: String?

  init(_ value: JSONValue) {
    name = value.text("name")
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

  var callId: String?, toolName: String?
  /// `function` or `mcp`.
  var toolType: String?
  /// Seldom sent: the tool's own server says it too, see `brainTools`.
  var serverName: String?
  /// An object as a rule.
  var arguments: JSONValue?
  var startedAt: Timestamp?, completedAt: Timestamp?
  var runtimeMs: Double?
  var success: Bool?
  /// A text or an object.
  var outputSummary: JSONValue?
  var error: String?
  /// Whether only events told of it: states do not hold calls that run.
  var isHeard = false

  /// Failed with an error; else running until it is completed; else what it says.
  var state: State {
    if error != nil { return .failed }
    if completedAt == nil && success != true { return .running }
    return success == false ? .failed : .ok
  }
}

extension VoiceToolCall {
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
