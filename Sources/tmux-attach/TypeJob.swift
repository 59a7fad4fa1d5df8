import CLibc
import Core
import Screen
import Shell

/// `--type`: standard input into the input line of a session.
struct TypeJob {
  private let visit: HostVisit
  private let tmux: RemoteTmux

  init(_ visit: HostVisit) {
    self.visit = visit
    tmux = visit.tmux
  }

  /// Reads standard input to its end. Text that may not be typed ends the process: it
  /// is bad input, with one line, and no mistake in the options.
  static func read(_ options: AttachOptions, _ diagnostics: Diagnostics) -> TypedText {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = CLibc.read(0, &piece, piece.count)
      if count == 0 { break }
      if count < 0 {
        if systemError == EINTR { continue }
        diagnostics.fail("standard input: \(systemReason(systemError))")
      }
      bytes += piece[..<count]
    }
    if options.isRaw { return TypedText(raw: bytes) }
    do throws(UsageError) {
      return try TypedText(bytes)
    } catch {
      diagnostics.fail("standard input: \(error.problem)")
    }
  }

  func run(_ text: TypedText) throws(HostFailure) -> Int32 {
    let options = visit.options
    if options.answers {
      let word = String(decoding: text.bytes, as: UTF8.self).trimmed
      try tmux.choose(word, in: visit.session)
      return ExitStatus.success.rawValue
    }
    var typing = Typing(
      session: visit.session, text: text,
      returnAfter: options.pressesReturn ? options.returnDelay : nil,
      idleWait: options.waitsForIdle ? options.maxWait : nil)
    typing.isCommand = options.isCommand
    _ = try tmux.type(typing)
    return ExitStatus.success.rawValue
  }
}
