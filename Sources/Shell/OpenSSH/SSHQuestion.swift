import CLibc
import Core

/// Asks `ssh -G` what it would do for a host, without blocking and without a network.
final class SSHQuestion {
  /// What came of it.
  enum Answer {
    /// Nothing yet.
    case none
    case settings(SSHSettings)
    /// It failed: its last words.
    case failed(String)
    /// There is no such program.
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

  /// - Parameter words: see `SSHCommand.question`.
  init(_ words: [String], now: Double) {
    deadline = now + Self.seconds
    do throws(ChildProcess.Failure) {
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
    _ = Self.take(child.error, &errors)
    let isOver = Self.take(child.output, &output)
    if isOver {
      finish(child.waitForEnd(), child)
    } else if now >= deadline || output.count > Self.limit {
      answer = .failed("ssh -G does not come to an end")
      self.child = nil
    }
  }

  private func finish(_ status: Int32, _ child: ChildProcess) {
    _ = Self.take(child.error, &errors)
    if status == 0 {
      answer = .settings(SSHSettings(String(decoding: output, as: UTF8.self)))
    } else {
      let lines = String(decoding: errors, as: UTF8.self).split { $0.isNewline }
      answer = .failed(lines.first.map(String.init) ?? "ssh -G failed")
    }
    self.child = nil
  }

  /// - Returns: whether its end was reached.
  private static func take(_ descriptor: Int32, _ bytes: inout [UInt8]) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 16) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count > 0 {
          bytes.append(contentsOf: buffer[..<count])
          continue
        }
        if count < 0 && systemError == EINTR { continue }
        return count == 0 || systemError != EAGAIN
      }
    }
  }
}
