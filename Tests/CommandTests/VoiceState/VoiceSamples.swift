import CLibc
import Core
import Testing

@testable import Agent
@testable import voice_state

/// The voice states of Tests/fixtures/voice and the time at which they are shown.
enum VoiceSamples {
  /// The moment of every golden frame: soon after the samples' last event.
  static let now = Timestamp(rfc3339: "2026-06-14T21:07:30.000Z") ?? Timestamp(seconds: 0)

  /// The widths that are kept as golden frames.
  static let widths = [40, 80, 132, 200]

  /// Every sample by the name of its file.
  static let names = [
    "full", "spec", "minimal", "null", "wrong", "scripts", "hostile", "troubled", "empty",
  ]

  /// The folder `Tests`, found from this file's path.
  static let tests: String = {
    var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    parts.removeLast(3)
    return parts.joined(separator: "/")
  }()

  /// The bytes of a sample.
  static func bytes(_ name: String) throws -> [UInt8] {
    try #require(read("\(tests)/fixtures/voice/\(name).json"), "no sample \(name)")
  }

  /// A sample as it was decoded.
  static func state(_ name: String) throws -> JSONValue {
    try bytes(name).withUnsafeBytes { try JSONValue.parse($0) }
  }

  /// The sessions of a sample.
  static func sessions(_ name: String) throws -> [VoiceSession] { sessions(of: try state(name)) }

  /// The sessions of a state that may be anything.
  static func sessions(of state: JSONValue) -> [VoiceSession] {
    state.list(VoiceSession.init, "sessions")
  }

  /// The first session of a sample.
  static func session(_ name: String) throws -> VoiceSession {
    try #require(try sessions(name).first)
  }

  /// A whole file, nil when there is none.
  static func read(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }
}
