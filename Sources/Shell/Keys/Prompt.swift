import CLibc
import Core

/// Questions whose answers must not be seen.
public enum Prompt {
  /// The longest answer, bytes.
  private static let limit = 1024

  /// Asks the user on the terminal of the process, wherever standard input comes from,
  /// without showing what is typed. Blocks; the terminal may be in any mode.
  ///
  /// - Parameter prompt: what is asked; made safe to show.
  /// - Returns: the answer without its line feed, which may be empty; nil when there is
  ///   no terminal, or it was given up (^C, ^D).
  public static func ask(_ prompt: String) -> [UInt8]? {
    var answer = [CChar](repeating: 0, count: limit)
    let count = clibc_ask_secret(Visible.line(prompt), &answer, limit)
    defer { answer.withUnsafeMutableBytes { clibc_wipe($0.baseAddress, $0.count) } }
    return count < 0 ? nil : answer[..<count].map { UInt8(bitPattern: $0) }
  }
}
