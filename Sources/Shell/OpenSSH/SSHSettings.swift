import CLibc
public import Core

/// What OpenSSH's client would do for a host: the answer of `ssh -G`.
struct SSHSettings: Equatable, Sendable {
  private var values: [String: [String]] = [:]

  /// Reads the answer: a keyword, a blank and a value in each line.
  init(_ answer: some StringProtocol) {
    for line in answer.split(separator: "\n") {
      guard let blank = line.firstIndex(of: " ") else { continue }
      let value = line[line.index(after: blank)...]
      values[line[..<blank].lowercased(), default: []].append(String(value))
    }
  }

  /// Whether this version of OpenSSH tells of a keyword.
  func knows(_ keyword: String) -> Bool { values[keyword] != nil }

  /// A value; nil for a keyword that is missing or `none`.
  func value(_ keyword: String) -> String? {
    values[keyword]?.first.flatMap { $0 == "none" ? nil : $0 }
  }

  /// The values of a keyword that may stand several times.
  func all(_ keyword: String) -> [String] { values[keyword] ?? [] }

  /// The parts of a value that is a list.
  func list(_ keyword: String) -> [String] {
    value(keyword)?.split(separator: ",").map(String.init) ?? []
  }

  /// Whether a keyword is switched on.
  func isOn(_ keyword: String) -> Bool {
    value(keyword).map { ["yes", "true"].contains($0) } ?? false
  }

  /// What is connected to.
  var hostname: String? { value("hostname") }

  /// 1 to 65535.
  var port: Int { value("port").flatMap { Int($0) } ?? 22 }

  /// The user on the host.
  var user: String? { value("user") }

  /// The name under which OpenSSH keeps the host's keys.
  var keyPlace: HostKeyPlace? {
    // An alias stands without a port, as if it were 22.
    if let alias = value("hostkeyalias") { return HostKeyPlace(host: alias, port: 22) }
    return hostname.map { HostKeyPlace(host: $0, port: port) }
  }

  /// Whether keys are named by the configuration: not OpenSSH's own list of names.
  var namesIdentities: Bool {
    let usual = ["rsa", "ecdsa", "ecdsa_sk", "ed25519", "ed25519_sk", "xmss", "dsa"]
      .map { "~/.ssh/id_\($0)" }
    let named = all("identityfile")
    return named.contains { !usual.contains($0) } || named.count == 1
  }
}

extension SSHSettings {
  private static let limit = 1 << 20
  private static let patience = 5.0

  /// Asks `ssh -G` what it would do for a host, without a network.
  ///
  /// - Returns: nil where ssh is not installed.
  static func ask(
    _ destination: Destination, _ wait: HostWait
  ) throws(HostFailure) -> SSHSettings? {
    let words = SSHPlan.question(destination)
    let child: ChildProcess
    do throws(Failure) {
      child = try ChildProcess(words, output: .pipe, error: .pipe)
    } catch {
      if error.code == ENOENT { return nil }
      throw .local(why: error.message)
    }
    let limit = Clock.monotonic + patience
    var output: [UInt8] = []
    var errors: [UInt8] = []
    while ChildProcess.drain(child.output, into: &output) {
      _ = ChildProcess.drain(child.error, into: &errors)
      guard Clock.monotonic < limit, output.count <= Self.limit else {
        throw .local(why: "ssh -G did not finish in time")
      }
      var set = PollSet(child.output, child.error)
      try wait(&set, limit)
    }
    let status = child.waitForEnd()
    _ = ChildProcess.drain(child.error, into: &errors)
    if status == 0 { return SSHSettings(String(decoding: output, as: UTF8.self)) }
    let lines = String(decoding: errors, as: UTF8.self).split { $0.isNewline }
    throw .local(why: lines.first.map(String.init) ?? "ssh -G failed")
  }
}

extension LinkRequest {
  /// Where the host's keys are: with OpenSSH, its configuration may know the host by
  /// another name.
  ///
  /// - Throws: `Failure` when OpenSSH is asked for and does not say.
  public func hostKeyPlace() throws(Failure) -> HostKeyPlace {
    let plain = destination.keyPlace
    guard options.transport != .libssh2 else { return plain }
    do throws(HostFailure) {
      let settings = try SSHSettings.ask(destination, PollSet.wait)
      if let settings { return settings.keyPlace ?? plain }
    } catch {
      throw Failure("ssh", error.reason)
    }
    if options.transport == .auto { return plain }
    throw Failure(OpenSSHLink.program, "not installed")
  }
}
