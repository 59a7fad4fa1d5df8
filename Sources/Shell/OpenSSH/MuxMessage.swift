import Core

/// What goes over the control socket of an OpenSSH master (PROTOCOL.mux, version 4).
enum MuxMessage {
  enum Answer: Equatable {
    case hello(version: UInt32)
    case alive(process: UInt32)
    case opened
    case exited(status: Int32)
    case refused(why: String)
    case other
  }

  static let hello = Wire.string(Wire.word(1) + Wire.word(4))
  static let check = Wire.string(Wire.word(0x1000_0004) + Wire.word(0))

  /// Asks for a session without a terminal; its three descriptors follow.
  static func session(_ command: String) -> [UInt8] {
    var body = Wire.word(0x1000_0002) + Wire.word(1) + Wire.string([])
    // No terminal, X11, agent or subsystem; no escape character.
    for _ in 0..<4 { body += Wire.word(0) }
    body += Wire.word(UInt32.max) + Wire.string([]) + Wire.string(command.utf8)
    return Wire.string(body)
  }

  /// Takes the first whole message off the front; nil when it has not come yet.
  static func next(_ bytes: inout [UInt8]) -> Answer? { Wire.next(&bytes).map(read) }

  private static func read(_ body: ArraySlice<UInt8>) -> Answer {
    var reader = WireReader(body)
    guard let kind = reader.word(), let second = reader.word() else { return .other }
    switch kind {
    case 1: return .hello(version: UInt32(truncatingIfNeeded: second))
    case 0x8000_0005:
      return reader.word().map { .alive(process: UInt32(truncatingIfNeeded: $0)) } ?? .other
    case 0x8000_0006: return .opened
    case 0x8000_0004:
      return reader.word().map { .exited(status: Int32(truncatingIfNeeded: $0)) } ?? .other
    case 0x8000_0002, 0x8000_0003:
      let why = reader.string().map { String(decoding: $0, as: UTF8.self) }
      return .refused(why: why ?? "refused")
    default: return .other
    }
  }
}

/// What a client of a control socket asks for (PROTOCOL.mux, version 4): the other side
/// of `MuxMessage`.
enum MuxRequest: Equatable {
  case hello(version: UInt32)
  case check(number: UInt32)
  case session(number: UInt32, command: String)
  case other(number: UInt32)
  /// Nobody of ours sends this: too long, or cut off.
  case broken

  /// The longest request, bytes: one argument of a command cannot be longer.
  static let limit = 160 << 10

  /// Takes the first whole request off the front; nil when it has not come yet.
  static func next(_ bytes: inout [UInt8]) -> MuxRequest? {
    var reader = WireReader(bytes[...])
    if let length = reader.word(), length > limit { return .broken }
    return Wire.next(&bytes).map(read)
  }

  private static func read(_ body: ArraySlice<UInt8>) -> MuxRequest {
    var reader = WireReader(body)
    guard let kind = reader.word(), let second = reader.word() else { return .broken }
    let number = UInt32(truncatingIfNeeded: second)
    switch kind {
    case 1: return .hello(version: number)
    case 0x1000_0004: return .check(number: number)
    case 0x1000_0002:
      guard reader.string() != nil else { return .broken }
      var isPlain = true
      // A terminal, X11, the agent, a subsystem.
      for _ in 0..<4 {
        guard let flag = reader.word() else { return .broken }
        isPlain = isPlain && flag == 0
      }
      guard reader.word() != nil, reader.string() != nil, let text = reader.string() else {
        return .broken
      }
      let command = String(decoding: text, as: UTF8.self)
      guard isPlain, command.utf8.elementsEqual(text) else { return .other(number: number) }
      return .session(number: number, command: command)
    default: return .other(number: number)
    }
  }
}

extension MuxMessage {
  static func alive(_ number: UInt32, process: UInt32) -> [UInt8] {
    Wire.string(Wire.word(0x8000_0005) + Wire.word(number) + Wire.word(process))
  }

  static func opened(_ number: UInt32) -> [UInt8] {
    Wire.string(Wire.word(0x8000_0006) + Wire.word(number) + Wire.word(number))
  }

  static func exited(_ number: UInt32, status: Int32) -> [UInt8] {
    Wire.string(Wire.word(0x8000_0004) + Wire.word(number) + Wire.word(UInt32(bitPattern: status)))
  }

  /// The answer is no; the host has heard nothing of it.
  static func refused(_ number: UInt32, why: String) -> [UInt8] {
    Wire.string(Wire.word(0x8000_0003) + Wire.word(number) + Wire.string(why.utf8))
  }
}
