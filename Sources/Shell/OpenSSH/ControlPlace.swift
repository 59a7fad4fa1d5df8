import CCrypto
import CLibc
import Core

/// Where the sockets of shared connections and the logs of OpenSSH are: a folder for the
/// user alone, whose path leaves room for a socket's name.
struct ControlPlace {
  /// Absolute.
  let folder: String
  /// None that was made when the files of host keys said something else.
  var socket: String { folder + "/" + Self.name(request, maker) }

  private let request: LinkRequest
  private let maker: [String]

  /// A socket's path may have 103 bytes on macOS, and ssh makes it under a longer name.
  private static let limit = 48

  init(_ request: LinkRequest, program: String) throws(Failure) {
    self.request = request
    maker = [program]
    folder = try Self.folder(request.stateFolder)
  }

  init(shared request: LinkRequest) throws(Failure) {
    self.request = request
    let key = request.identity ?? OwnKey.path(in: request.stateFolder)
    let agent = request.options.usesAgent ? Process.environment("SSH_AUTH_SOCK") : nil
    maker = ["libssh2, shared", key, Self.state(key), agent ?? ""]
    folder = try Self.folder(request.stateFolder)
  }

  func ownName(_ kind: String) -> String {
    "\(kind).\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
  }

  /// Of all that makes a connection, so that none is used with other keys or pins.
  private static func name(_ request: LinkRequest, _ maker: [String]) -> String {
    let destination = request.destination
    let parts =
      maker + [
        destination.host, destination.port.map(String.init) ?? "", destination.user ?? "",
        request.identity ?? "", request.options.usesAgent ? "agent" : "", request.pins,
        request.options.knownHosts ?? "", request.options.transport.rawValue, state(request.pins),
        request.options.knownHosts.map(state) ?? "", configuration.map(state) ?? "",
      ]
    let text = Array(parts.joined(separator: "\0").utf8)
    var digest = [UInt8](repeating: 0, count: 32)
    ccrypto_sha256(text, text.count, &digest)
    let digits = Array("0123456789abcdefghijklmnopqrstuv")
    return "m" + String(digest.prefix(12).map { digits[Int($0 & 31)] })
  }

  /// OpenSSH's, which it does not look for by HOME.
  private static var configuration: String? { Folders.passwordHome.map { $0 + "/.ssh/config" } }

  private static func state(_ path: String) -> String {
    guard let status = stat(following: path) else { return "" }
    let version = FileVersion(status)
    return "\(status.st_ino).\(version.size).\(version.modified)"
  }

  private static func folder(_ stateFolder: String) throws(Failure) -> String {
    var candidates: [String] = []
    if let runtime = Process.environment("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") {
      candidates.append(runtime + "/agentutils")
    }
    candidates.append(stateFolder + "/run")
    candidates = candidates.filter { $0.utf8.count <= limit }
    candidates.append("/tmp/agentutils-\(getuid())")
    var failure = Failure(candidates[0], "no folder for sockets")
    for candidate in candidates {
      do throws(Failure) {
        try make(candidate)
        return candidate
      } catch {
        failure = error
      }
    }
    throw failure
  }

  private static func make(_ path: String) throws(Failure) {
    if mkdir(path, 0o700) != 0, systemError != EEXIST {
      throw Failure(code: systemError, place: path)
    }
    guard let status = stat(at: path) else { throw Failure(code: systemError, place: path) }
    guard status.isFolder, status.st_uid == getuid(), status.st_mode & 0o077 == 0
    else { throw Failure(path, "refused: not a folder for its owner alone", .denied) }
  }
}

extension ControlPlace {
  /// How long a file is left alone, seconds: somebody may be about to use it.
  private static let leftAlone = 120.0

  func sweep() {
    for name in (try? FolderFile.names(in: folder)) ?? [] {
      let path = folder + "/" + name
      guard let status = stat(at: path),
        Clock.unix - Double(FileVersion(status).modified) / 1e9 > Self.leftAlone
      else { continue }
      if status.st_mode & mode_t(S_IFMT) == mode_t(S_IFSOCK), name.hasPrefix("m") {
        let socket = clibc_connect_local(path)
        if socket >= 0 {
          close(socket)
        } else if systemError == ECONNREFUSED {
          unlink(path)
        }
      } else if status.isPipe, name.hasPrefix("log.") {
        // An ssh that has it open does not need its name.
        unlink(path)
      }
    }
  }
}
