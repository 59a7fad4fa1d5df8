import CLibc

/// The file by which whoever records a clip asks for silence: `recording` in the folder of the
/// suite's state, `$XDG_STATE_HOME/agentutils`.
///
/// It holds the id of the process that records, in decimal digits, and a LF; a script may
/// write it (`echo $$ >file`), and removes it afterwards. The mark of a process that has ended
/// means nothing, and neither does what is not a number.
public struct RecordingMark: Sendable {
  /// The folder in which it stands.
  public let folder: String
  /// Where it stands, or would.
  public var path: String { Folders.join(folder, Self.name) }

  /// Its name in that folder.
  public static let name = "recording"

  public init(_ folders: Folders = Folders()) { folder = folders.state }

  /// Whether something is being recorded now.
  public var isSet: Bool {
    guard let found = try? StateFile(path: path).read(limit: 64),
      let process = Self.process(of: found)
    else { return false }
    // A process of somebody else's is there, too.
    return kill(process, 0) == 0 || systemError == EPERM
  }

  /// The process that a mark names. Returns nil when it names none.
  static func process(of bytes: [UInt8]) -> pid_t? {
    var digits = bytes[...]
    while let last = digits.last, last == 10 || last == 13 || last == 32 { digits.removeLast() }
    guard !digits.isEmpty, digits.allSatisfy({ $0 &- 48 < 10 }),
      let process = pid_t(String(decoding: digits, as: UTF8.self)), process > 0
    else { return nil }
    return process
  }
}
