internal import Core

/// The key of a conversation of an OpenClaw gateway, as the gateway writes it
/// (Agent/OpenClaw/CONTRACT.md 6): `agent:AGENT:NAME`, or `global`.
public struct GatewayKey: Equatable, Sendable {
  /// Whose it is; nil where the text names nobody.
  public let agent: String?
  /// What it is called.
  public let name: String

  /// - Parameter text: a whole key or a name, as somebody typed it.
  /// - Returns: nil for nothing but blanks.
  public init?(_ text: String) {
    let text = text.trimmed
    if text.isEmpty { return nil }
    let folded = text.lowercased()
    let rest = text.dropFirst(6)
    if folded.hasPrefix("agent:"), let colon = rest.firstIndex(of: ":"),
      let owner = Self.agent(String(rest[..<colon]))
    {
      let tail = rest[rest.index(after: colon)...]
      if !tail.isEmpty, tail.first != ":" {
        (agent, name) = (owner, Self.folded(String(tail)))
        return
      }
    }
    (agent, name) = (nil, Self.folded(text))
  }

  /// Whether it is one for all, which belongs to no agent.
  public var isForAll: Bool { agent == nil && (name == "global" || name == "unknown") }

  /// The whole key.
  ///
  /// - Parameters:
  ///   - agent: whose it is where it names nobody.
  ///   - isGlobal: whether the main conversations of all agents are one.
  public func text(agent: String, mainKey: String, isGlobal: Bool) -> String {
    // One that only begins as a whole key stays what it is.
    if isForAll || self.agent == nil && name.hasPrefix("agent:") { return name }
    let owner = self.agent ?? agent
    let main = mainKey.lowercased()
    guard name == "main" || name == main else { return "agent:\(owner):\(name)" }
    return isGlobal ? "global" : "agent:\(owner):\(main)"
  }

  /// The name of an agent as the gateway has it: small letters, digits, `-` and `_`.
  ///
  /// - Returns: nil for one that has none of them.
  public static func agent(_ text: String) -> String? {
    var out = ""
    var isStranger = false
    for scalar in text.trimmed.lowercased().unicodeScalars {
      switch scalar {
      case "a"..."z", "0"..."9", "_", "-":
        out.unicodeScalars.append(scalar)
        isStranger = false
      default:
        if !isStranger { out.append("-") }
        isStranger = true
      }
    }
    if (1...64).contains(out.utf8.count), out == text.trimmed.lowercased(), out.first != "-",
      out.first != "_"
    {
      return out
    }
    while out.first == "-" { out.removeFirst() }
    while out.last == "-" { out.removeLast() }
    return out.isEmpty ? nil : String(out.prefix(64))
  }

  /// In small letters, but for the ids of rooms of two networks, in which the case counts: behind
  /// `signal:group:` to the next colon, and behind `matrix:channel:` or `matrix:group:` all but the
  /// word `:thread:`.
  private static func folded(_ text: String) -> String {
    let low = text.lowercased()
    // Where a letter changes its length, no place of one is a place of the other.
    guard low.holds("signal:group:") || low.hasPrefix("matrix:"), low.utf8.count == text.utf8.count
    else { return low }
    let bytes = Array(text.utf8)
    var out = Array(low.utf8)
    func keep(_ range: Range<Int>) { for index in range { out[index] = bytes[index] } }
    for start in ["matrix:channel:", "matrix:group:"] where low.hasPrefix(start) {
      var end = bytes.count
      let marker = Array(":thread:".utf8)
      for place in stride(from: out.count - marker.count, through: start.utf8.count, by: -1)
      where Array(out[place..<place + marker.count]) == marker {
        keep(place + marker.count..<bytes.count)
        end = place
        break
      }
      keep(start.utf8.count..<end)
      return String(decoding: out, as: UTF8.self)
    }
    let start = Array("signal:group:".utf8)
    var place = 0
    while place + start.count <= out.count {
      let isStart = Array(out[place..<place + start.count]) == start
      if isStart, place == 0 || out[place - 1] == UInt8(ascii: ":") {
        let end = out[(place + start.count)...].firstIndex(of: UInt8(ascii: ":")) ?? out.count
        keep(place + start.count..<end)
        place = end
      } else {
        place += 1
      }
    }
    return String(decoding: out, as: UTF8.self)
  }
}
