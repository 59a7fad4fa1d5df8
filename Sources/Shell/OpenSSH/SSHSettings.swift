import CLibc
public import Core

/// What OpenSSH's client would do for a host: the answer of `ssh -G`.
public struct SSHSettings: Equatable, Sendable {
  private var values: [String: [String]] = [:]

  /// Reads the answer: a keyword, a blank and a value in each line.
  public init(_ answer: some StringProtocol) {
    for line in answer.split(separator: "\n") {
      guard let blank = line.firstIndex(of: " ") else { continue }
      let value = line[line.index(after: blank)...]
      values[line[..<blank].lowercased(), default: []].append(String(value))
    }
  }

  /// Whether this version of OpenSSH tells of a keyword.
  public func knows(_ keyword: String) -> Bool { values[keyword] != nil }

  /// A value; nil for a keyword that is missing or `none`.
  public func value(_ keyword: String) -> String? {
    values[keyword]?.first.flatMap { $0 == "none" ? nil : $0 }
  }

  /// The values of a keyword that may stand several times.
  public func all(_ keyword: String) -> [String] { values[keyword] ?? [] }

  /// The parts of a value that is a list.
  public func list(_ keyword: String) -> [String] {
    value(keyword)?.split(separator: ",").map(String.init) ?? []
  }

  /// Whether a keyword is switched on.
  public func isOn(_ keyword: String) -> Bool {
    value(keyword).map { ["yes", "true"].contains($0) } ?? false
  }

  /// What is connected to.
  public var hostname: String? { value("hostname") }

  /// 1 to 65535.
  public var port: Int { value("port").flatMap { Int($0) } ?? 22 }

  /// The user on the host.
  public var user: String? { value("user") }

  /// The name under which OpenSSH keeps the host's keys.
  public var keyPlace: HostKeyPlace? {
    // An alias stands without a port, as if it were 22.
    if let alias = value("hostkeyalias") { return HostKeyPlace(host: alias, port: 22) }
    return hostname.map { HostKeyPlace(host: $0, port: port) }
  }

  /// Whether keys are named by the configuration: not OpenSSH's own list of names.
  public var namesIdentities: Bool {
    let usual = ["rsa", "ecdsa", "ecdsa_sk", "ed25519", "ed25519_sk", "xmss", "dsa"]
      .map { "~/.ssh/id_\($0)" }
    let named = all("identityfile")
    return named.contains { !usual.contains($0) } || named.count == 1
  }
}

/// Asks `ssh -G` what it would do for a host, without blocking and without a network.
final class SSHQuestion {
  /// What came of it.
  enum Answer {
    /// Nothing yet.
    case none
    case settings(SSHSettings)
    /// It failed: its last words.
    case failed(String)
    /// ssh is not installed.
    case missing
  }

  private(set) var answer = Answer.none
  /// When it is given up.
  let deadline: Double
  private var child: ChildProcess?
  private var output: [UInt8] = []
  private var errors: [UInt8] = []

  private static let limit = 1 << 20
  private static let seconds = 5.0

  init(_ words: [String], now: Double) {
    deadline = now + Self.seconds
    do throws(Failure) {
      child = try ChildProcess(words, output: .pipe, error: .pipe)
    } catch {
      answer = error.code == ENOENT ? .missing : .failed(error.words)
    }
  }

  func wants(_ set: inout PollSet) {
    guard let child else { return }
    set.add(child.output)
    set.add(child.error)
  }

  func advance(now: Double) {
    guard let child else { return }
    _ = PipeEnd.drain(child.error, into: &errors)
    let isOver = PipeEnd.drain(child.output, into: &output)
    if isOver {
      finish(child.waitForEnd(), child)
    } else if now >= deadline || output.count > Self.limit {
      answer = .failed("ssh -G did not finish in time")
      self.child = nil
    }
  }

  private func finish(_ status: Int32, _ child: ChildProcess) {
    _ = PipeEnd.drain(child.error, into: &errors)
    if status == 0 {
      answer = .settings(SSHSettings(String(decoding: output, as: UTF8.self)))
    } else {
      let lines = String(decoding: errors, as: UTF8.self).split { $0.isNewline }
      answer = .failed(lines.first.map(String.init) ?? "ssh -G failed")
    }
    self.child = nil
  }
}

extension LinkRequest {
  /// Where the host's keys are: with OpenSSH, its configuration may know the host by
  /// another name.
  ///
  /// - Throws: `SettingsError` when OpenSSH is asked for and does not say.
  public func hostKeyPlace() throws(SettingsError) -> HostKeyPlace {
    let plain = HostKeyPlace(host: destination.host, port: destination.port ?? 22)
    guard options.transport != .libssh2 else { return plain }
    let question = SSHQuestion(
      SSHCommand.question(program: OpenSSHLink.program, destination), now: Clock.monotonic)
    var set = PollSet()
    while case .none = question.answer {
      set.removeAll()
      question.wants(&set)
      set.wait(seconds: question.deadline - Clock.monotonic)
      question.advance(now: Clock.monotonic)
    }
    switch question.answer {
    case .settings(let settings): return settings.keyPlace ?? plain
    case .missing where options.transport == .auto: return plain
    case .failed(let why): throw SettingsError("ssh", why)
    case .missing, .none: throw SettingsError(OpenSSHLink.program, "not installed")
    }
  }
}
