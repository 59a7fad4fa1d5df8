import CLibc
import Core

/// ssh-keygen(1): it knows every form in which keys are kept.
enum Keygen {
  /// Runs it to its end.
  ///
  /// - Parameter words: its arguments. It asks for a passphrase on the terminal.
  /// - Throws: `SettingsError` when it is not there.
  static func run(
    _ words: [String]
  ) throws(SettingsError) -> (status: Int32, output: [UInt8]) {
    let child: ChildProcess
    do throws(ChildProcess.Failure) {
      child = try ChildProcess(
        ["ssh-keygen"] + words, input: .nothing, output: .pipe, error: .ours)
    } catch {
      throw SettingsError(error.program, systemReason(error.code))
    }
    var output: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    var set = PollSet()
    while output.count < 1 << 20 {
      let count = read(child.output, &piece, piece.count)
      if count == 0 { break }
      if count > 0 { output += piece[..<count] }
      if count < 0, systemError != EAGAIN, systemError != EINTR { break }
      set.removeAll()
      set.add(child.output)
      if count < 0 { set.wait(seconds: nil) }
    }
    child.closeEnds()
    _ = child.waitForEnd()
    return (child.exitStatus ?? -1, output)
  }
}
