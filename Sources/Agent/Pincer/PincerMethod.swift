import Core
import Records
import Web

/// What a Pincer server can be asked for (Agent/Pincer/CONTRACT.md 3).
enum PincerMethod: String {
  case createPairingCode = "Auth/CreatePairingCode"
  case bindPairingCode = "Auth/BindPairingCode"
  case listDevices = "Devices/ListDevices"
  case revokeDevice = "Devices/RevokeDevice"
  case createThread = "Threads/CreateThread"
  case listThreads = "Threads/ListThreads"
  case listThreadMessages = "Threads/ListThreadMessages"
  case startTurn = "Turns/StartTurn"
  case watchThread = "Events/WatchThread"
  case listApprovals = "Approvals/ListApprovals"
  case approveAction = "Approvals/ApproveAction"
  case rejectAction = "Approvals/RejectAction"
  case listJobs = "Jobs/ListJobs"
  case listSchedules = "Schedules/ListSchedules"
  case listAudit = "System/ListAudit"
  case getPolicySummary = "System/GetPolicySummary"

  var path: String {
    let parts = rawValue.split(separator: "/")
    return "pincer.protocol.v1.\(parts[0])Service/\(parts[1])"
  }

  var isReading: Bool { name.hasPrefix("List") || name.hasPrefix("Get") }

  var name: String { String(rawValue.split(separator: "/")[1]) }
}

/// A value as protobuf writes it in JSON (Agent/Pincer/CONTRACT.md 1.3): a name in lower
/// camel case or in snake case, zeros left out, whole numbers as strings or numbers, enums
/// by name or number.
extension JSONValue {
  func pincer(_ name: String) -> JSONValue? { self[either: name, PincerName.snake(name)] }

  func pincerText(_ name: String) -> String { pincer(name)?.string ?? "" }
  /// Nil where nothing is said.
  func pincerWord(_ name: String) -> String? {
    pincer(name)?.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A whole number; 0 where it was left out, nil for what is none.
  func pincerNumber(_ name: String) -> Int64? {
    guard let value = pincer(name) else { return 0 }
    if let number = value.integer { return number }
    if let text = value.string { return Int64(text) }
    return value.number.flatMap { Int64(exactly: $0) }
  }

  /// The name of an enum's value; nil where it was left out, its number where that has no
  /// name here.
  func pincerEnum(_ name: String, _ names: [String]) -> String? {
    guard let value = pincer(name) else { return nil }
    guard let number = value.integer ?? value.string.flatMap({ Int64($0) }) else {
      return value.string.flatMap { $0.isEmpty || $0.hasSuffix("_UNSPECIFIED") ? nil : $0 }
    }
    if number == 0 { return nil }
    return names.indices.contains(Int(clamping: number) - 1)
      ? names[Int(clamping: number) - 1] : String(number)
  }

  func pincerTime(_ name: String) -> Timestamp? {
    pincer(name)?.string.flatMap { Timestamp(rfc3339: $0) }
  }
}

enum PincerName {
  /// `toolCallId` as `tool_call_id`.
  static func snake(_ name: String) -> String {
    var text = ""
    for letter in name {
      if letter.isUppercase { text += "_" + letter.lowercased() } else { text.append(letter) }
    }
    return text
  }

  /// `tool_call_id` as `toolCallId`.
  static func camel(_ name: String) -> String {
    let parts = name.split(separator: "_")
    guard parts.count > 1 else { return name }
    return parts.dropFirst().reduce(String(parts[0])) {
      $0 + $1.prefix(1).uppercased() + $1.dropFirst()
    }
  }
}
