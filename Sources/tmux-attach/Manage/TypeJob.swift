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
    tmux = visit.open()
  }

  /// Reads standard input to its end.
  ///
  /// - Throws: `UsageError` for text that may not be typed.
  static func read(
    _ options: AttachOptions, _ diagnostics: Diagnostics
  ) throws(UsageError) -> TypedText {
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
    return options.isRaw ? TypedText(raw: bytes) : try TypedText(bytes)
  }

  func run(_ text: TypedText) throws(TmuxError) -> Int32 {
    let options = visit.options
    let typing = Typing(
      session: visit.session, text: text,
      returnAfter: options.pressesReturn ? options.returnDelay : nil)
    do throws(TmuxError) {
      _ = try tmux.type(typing)
    } catch {
      if case .call(let failure) = error, failure.part.starts(with: "typed\n".utf8) {
        visit.diagnostics.say("the text was typed, but Return may be missing")
      }
      throw error
    }
    return ExitStatus.success.rawValue
  }
}
