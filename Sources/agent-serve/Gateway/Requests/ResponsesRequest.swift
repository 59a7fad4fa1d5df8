import Core

/// A request of `POST /v1/responses` (Agent/OpenClaw/CONTRACT.md 10), as far as a
/// command that reads one message can be told.
struct ResponsesRequest: Equatable, Sendable {
  /// What the agent is asked: the last message of a user, or output of a tool.
  let message: String
  let model: String
  let streams: Bool
  let user: String?
  let previous: String?

  init(_ body: [UInt8]) throws(GatewayFault) {
    let value = try GatewayRequest.value(body)
    try Self.form.check(value, "invalid request")
    model = value["model"]?.string ?? ""
    guard Self.models.contains(model) else { throw .invalid("unknown model") }
    streams = value["stream"]?.bool ?? false
    user = value["user"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    previous = value["previous_response_id"]?.string
    message = try Self.message(value["input"])
  }

  private static func message(_ input: JSONValue?) throws(GatewayFault) -> String {
    if let text = input?.string { return text }
    guard let input, input.kind == .array else {
      throw .invalid("invalid request.input: of another type")
    }
    for item in input.elements.reversed() {
      switch item["type"]?.string {
      case "message" where item["role"]?.string == "user": return try text(item["content"])
      case "function_call_output":
        if let output = item["output"]?.string { return output }
      default: continue
      }
    }
    throw .invalid("invalid request.input: no message of a user")
  }

  private static func text(_ content: JSONValue?) throws(GatewayFault) -> String {
    if let text = content?.string { return text }
    var texts: [String] = []
    for part in content?.elements ?? [] {
      switch part["type"]?.string {
      case "input_text", "output_text": texts.append(part["text"]?.string ?? "")
      default: throw .invalid("invalid request.input: the reply command reads text alone")
      }
    }
    return texts.joined(separator: "\n")
  }

  private static let models = [
    "openclaw", "default", "openclaw/default", "openclaw/\(SessionKey.agent)",
    "openclaw:\(SessionKey.agent)", "agent:\(SessionKey.agent)",
  ]
  private static let form: ClosedObject = [
    "model": .name, "input": .any, "stream?": .bool, "instructions?": .any,
    "max_output_tokens?": .any, "temperature?": .any, "top_p?": .any, "tools?": .any,
    "tool_choice?": .any, "user?": .text(0...200), "previous_response_id?": .any,
    "max_tool_calls?": .any, "reasoning?": .any, "metadata?": .any, "store?": .any,
    "truncation?": .any,
  ]
}

struct ResponsesAnswer: Sendable {
  private static let silence = "No response from OpenClaw."

  let id: String
  let model: String
  /// Seconds.
  let created: Int64

  private var item: String { "msg_\(id)" }

  /// The response object.
  func response(_ outcome: Run.Outcome?, _ text: String) -> JSONNode {
    var error = JSONNode.absent
    let status =
      switch outcome {
      case nil: "in_progress"
      case .reply: "completed"
      case .aborted: "cancelled"
      case .failed: "failed"
      }
    if case .failed(let reason, _) = outcome {
      error = ["code": "api_error", "message": .text(reason)]
    }
    return [
      "id": .text("resp_\(id)"), "object": "response", "created_at": .number(Int(created)),
      "status": .text(status), "model": .text(model),
      "output": outcome == .reply ? [message(text, "completed")] : [],
      // Nobody counts them here.
      "usage": ["input_tokens": 0, "output_tokens": 0, "total_tokens": 0], "error": error,
    ]
  }

  var opening: [UInt8] {
    let response = response(nil, "")
    return event("response.created", ["response": response])
      + event("response.in_progress", ["response": response])
      + event(
        "response.output_item.added",
        [
          "output_index": 0,
          "item": [
            "type": "message", "id": .text(item), "role": "assistant", "content": [],
            "status": "in_progress",
          ],
        ])
      + event("response.content_part.added", place.adding(["part": part("")]))
  }

  func delta(_ text: String) -> [UInt8] {
    event("response.output_text.delta", place.adding(["delta": .text(text)]))
  }

  func closing(_ outcome: Run.Outcome, _ text: String) -> [UInt8] {
    let done = "data: [DONE]\n\n".utf8
    let response = response(outcome, text)
    guard outcome == .reply else {
      return event("response.failed", ["response": response]) + done
    }
    return event("response.output_text.done", place.adding(["text": .text(shown(text))]))
      + event("response.content_part.done", place.adding(["part": part(shown(text))]))
      + event(
        "response.output_item.done", ["output_index": 0, "item": message(text, "completed")])
      + event("response.completed", ["response": response]) + done
  }

  private var place: JSONNode {
    ["item_id": .text(item), "output_index": 0, "content_index": 0]
  }

  private func shown(_ text: String) -> String { text.isEmpty ? Self.silence : text }

  private func part(_ text: String) -> JSONNode { ["type": "output_text", "text": .text(text)] }

  private func message(_ text: String, _ status: String) -> JSONNode {
    [
      "type": "message", "id": .text(item), "role": "assistant", "content": [part(shown(text))],
      "status": .text(status),
    ]
  }

  private func event(_ type: String, _ members: JSONNode) -> [UInt8] {
    let data: JSONNode = ["type": .text(type)]
    return Array("event: \(type)\ndata: ".utf8) + data.adding(members).bytes + Array("\n\n".utf8)
  }
}
