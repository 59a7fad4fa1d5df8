import CLibc
import Core

/// The session of a host that was sat at last, by name: where text and files go when
/// none is named. One small file for each host and port in the state folder.
public struct LastSession: Sendable {
  /// The file.
  public let path: String
  private let folder: String

  /// - Parameters:
  ///   - stateFolder: an absolute path.
  ///   - destination: the host, as it is connected to.
  public init(stateFolder: String, _ destination: Destination) {
    folder = stateFolder + "/last-session"
    path = folder + "/" + Self.fileName(destination)
  }

  /// The name of the session.
  ///
  /// - Parameter label: tmux -L.
  /// - Returns: nil when none is known, or it was another server's.
  public func name(label: String) -> String? {
    guard let bytes = try? StateFile(path: path).read(limit: 4096) else { return nil }
    let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard lines.count >= 2, lines[0] == label else { return nil }
    return try? SessionName.checked(lines[1])
  }

  /// Keeps a name. Nothing depends on it: a disk that is full is no reason to leave
  /// a session.
  ///
  /// - Parameters:
  ///   - name: the session's.
  ///   - label: tmux -L.
  public func remember(_ name: String, label: String) {
    guard self.name(label: label) != name else { return }
    mkdir(folder, 0o700)
    try? StateFile(path: path).replace(with: Array("\(label)\n\(name)\n".utf8))
  }

  /// Bytes that could mean something in a path are hexadecimal.
  private static func fileName(_ destination: Destination) -> String {
    let name = Destination.pinName(host: destination.host, port: destination.port ?? 22)
    var out = ""
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
        out.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: ".") where !out.isEmpty: out += "."
      default: out += "%" + String(Int(byte) + 0x100, radix: 16).dropFirst()
      }
    }
    return out
  }
}
