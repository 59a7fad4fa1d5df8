import CLibc

/// Asks the person at the terminal.
public enum Confirmation {
  /// Whether there is somebody to ask.
  public static var canAsk: Bool { isatty(0) == 1 && isatty(2) == 1 }

  /// Asks on standard error, and reads a line of standard input.
  ///
  /// - Parameter words: without controls.
  /// - Returns: true for an answer that begins with y; at the end of the file, no.
  public static func isYes(_ words: String) -> Bool {
    _ = (words + " [y/N] ").withCString { CLibc.write(2, $0, strlen($0)) }
    var answer: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      let count = read(0, &byte, 1)
      if count < 0 && systemError == EINTR {
        if EndSignals.hasPending { return false }
        continue
      }
      if count <= 0 || byte == 10 { break }
      if answer.count < 100 { answer.append(byte) }
    }
    return answer.first { $0 != 32 }.map { $0 | 0x20 == UInt8(ascii: "y") } ?? false
  }
}
