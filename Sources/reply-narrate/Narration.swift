import Core
import Records

struct Narration: Equatable {
  let origin: RecordOrigin
  /// The id of the answer, where it has one; else that of the turn.
  let id: String
  let thread: String
  /// The turn's id; nil where a line says only that one has ended.
  let turn: String?
  /// Prose, one line.
  let text: String
  let time: Timestamp?

  func line(_ form: NarrateOptions.Form) -> [UInt8] {
    switch form {
    case .text: Array(text.utf8) + [10]
    case .json:
      RecordText(.narration).string("backend", origin.backend.rawValue)
        .string("profile", origin.profile).string("id", id).string("thread", thread)
        .string("turn", turn).string("text", text).number("chars", text.count).time(time).line
    }
  }
}
