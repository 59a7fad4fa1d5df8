import Core

extension VoiceTool {
  init(_ value: JSONValue) {
    name = value.text("name")
    serverName = value.text("serverName")
    description = value.text("description")
  }
}

/// Of a state, or of the event of a call: calls that a model makes by itself have other
/// names for three members.
extension VoiceToolCall {
  init(_ value: JSONValue) {
    callId = value.text("callId")
    toolName = value.text("toolName")
    toolType = value.text("toolType")
    serverName = value.text("serverName")
    arguments = value[either: "arguments", "toolInput"]
    startedAt = value.time("startedAt")
    completedAt = value.time("completedAt")
    runtimeMs = value.double("runtimeMs", "durationMs")
    success = value.bool("success")
    outputSummary = value[either: "outputSummary", "toolResultSummary"]
    error = value.text("error") ?? value.part({ $0.text("message", "code") }, "error") ?? nil
  }
}

extension VoiceMCPServer {
  init(_ value: JSONValue) {
    serverName = value.text("serverName")
    connected = value.bool("connected")
    tools = value.list(VoiceTool.init, "tools")
    lastError = value.text("lastError")
    lastConnectedAt = value.time("lastConnectedAt")
    lastCallAt = value.time("lastCallAt")
  }
}
