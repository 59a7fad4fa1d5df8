/// A tool that a model may call.
public struct VoiceTool: Sendable {
  public let name: String?
  /// `function` or `mcp`.
  public let toolType: String?
  public let serverName: String?, description: String?

  init(_ value: JSONValue) {
    name = value.text("name")
    toolType = value.text("toolType")
    serverName = value.text("serverName")
    description = value.text("description")
  }
}

/// One call of a tool.
public struct VoiceToolCall: Sendable {
  /// How a call stands.
  public enum State: String, Sendable {
    case running, ok, failed
  }

  public let callId: String?, toolName: String?
  /// `function` or `mcp`.
  public let toolType: String?
  /// Seldom sent: the tool's own server says it too, see `brainTools`.
  public let serverName: String?
  /// An object as a rule.
  public let arguments: JSONValue?
  public let startedAt: Timestamp?, completedAt: Timestamp?
  public let runtimeMs: Double?
  public let success: Bool?
  /// A text or an object.
  public let outputSummary: JSONValue?
  public let error: String?

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
  public var state: State {
    if error != nil { return .failed }
    if completedAt == nil && success != true { return .running }
    return success == false ? .failed : .ok
  }
}

/// A server of the model context protocol.
public struct VoiceMCPServer: Sendable {
  public let serverName: String?
  public let connected: Bool?
  public let tools: [VoiceTool]
  public let lastError: String?
  public let lastConnectedAt: Timestamp?, lastCallAt: Timestamp?

  init(_ value: JSONValue) {
    serverName = value.text("serverName")
    connected = value.bool("connected")
    tools = value.list(VoiceTool.init, "tools")
    lastError = value.text("lastError")
    lastConnectedAt = value.time("lastConnectedAt")
    lastCallAt = value.time("lastCallAt")
  }
}
