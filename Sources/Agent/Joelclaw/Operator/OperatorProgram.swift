import CLibc
import Core

/// A program that is asked about a part: what it reads, and what it prints. It is killed, with
/// all that it started, when it is let go.
final class OperatorProgram {
  private let child: ChildProcess
  private var input: ArraySlice<UInt8>
  private var (output, error): ([UInt8], [UInt8]) = ([], [])
  private var (isOutputOver, isErrorOver) = (false, false)

  /// The most that is taken of what it prints, bytes.
  private static let largest = 64 << 20

  init(_ words: [String], input: [UInt8]) throws(Failure) {
    self.input = input[...]
    child = try ChildProcess(
      words, input: input.isEmpty ? .nothing : .pipe, output: .pipe, error: .pipe,
      leadsGroup: true)
  }

  var reading: [Int32] {
    (isOutputOver ? [] : [child.output]) + (isErrorOver ? [] : [child.error])
  }

  var writing: [Int32] { child.input >= 0 ? [child.input] : [] }

  var isSilent: Bool { isOutputOver && isErrorOver }

  func kill(_ signal: Int32) { child.kill(signal) }

  /// Does what can be done without waiting; nil while the program runs.
  func look() -> OperatorOutcome? {
    feed()
    if !isOutputOver { isOutputOver = Self.drain(child.output, into: &output) }
    if !isErrorOver { isErrorOver = Self.drain(child.error, into: &error) }
    if output.count > Self.largest { return .failed("it printed too much") }
    guard isSilent, child.reap() else { return nil }
    let words = String(decoding: error, as: UTF8.self)
    let last = words.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
    return .output(output, error: last, status: child.exitStatus)
  }

  private func feed() {
    while child.input >= 0 {
      let count = input.withUnsafeBytes { write(child.input, $0.baseAddress, $0.count) }
      if count < 0, systemError == EAGAIN || systemError == EINTR { return }
      // Who does not read it all has read enough.
      input = count < 0 ? [] : input.dropFirst(count)
      if input.isEmpty { child.closeInput() }
    }
  }

  /// Reads what is there; true when nothing more comes.
  private static func drain(_ descriptor: Int32, into bytes: inout [UInt8]) -> Bool {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= largest {
      let count = read(descriptor, &piece, piece.count)
      if count > 0 {
        bytes += piece[..<count]
      } else {
        return count == 0 || (systemError != EAGAIN && systemError != EINTR)
      }
    }
    return true
  }
}
