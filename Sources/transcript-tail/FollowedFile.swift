import Turns

/// A file that is followed.
final class FollowedFile {
  let path: String
  let key: FileKey
  /// See `ClaudeTranscripts.session`.
  let session: String
  let number: UInt64
  let born: Int64
  var size: Int64
  var modified: Int64
  var cutter: LineCutter
  /// The last line that was handed out.
  var line: LineMark?
  /// Whether nothing of it was wanted so far.
  var isSkipped = false
  /// What is looked for in a file that took the name of another: the line at which that one was
  /// left.
  var claim: (line: LineMark, loss: FollowPlan.Loss, mark: FileMark)?
  /// It is no text of UTF-8.
  var isForeign = false
  /// The first id of its lines; looked for where it is read from its beginning.
  var first: String?
  let isWhole: Bool
  /// Up to where only an earlier run has read it, bytes.
  var unseen: Int64 = 0

  init(_ file: SeenFile, offset: Int64, limit: Int) {
    path = file.path
    key = FileKey(file.path)
    session = ClaudeTranscripts.session(of: file.path)
    (number, born) = (file.number, file.born)
    size = file.size
    modified = file.modified
    isWhole = offset == 0
    cutter = LineCutter(offset: offset, limit: limit)
  }

  /// One that goes on at a mark, whatever file has the name now: see `loss`.
  convenience init(_ file: SeenFile, from mark: FileMark, limit: Int) {
    var then = file
    then.number = mark.number
    if mark.born != 0 { then.born = mark.born }
    self.init(then, offset: mark.offset, limit: limit)
    (line, isSkipped, first) = (mark.line, mark.isSkipped, mark.first)
    unseen = mark.isSkipped ? 0 : mark.offset
  }

  var isBehind: Bool { !isForeign && cutter.isBehind(size) }

  /// How far it was read.
  var mark: FileMark {
    if let claim { return claim.mark }
    return FileMark(
      path: path, number: number, born: born, offset: cutter.offset, line: line,
      isSkipped: isSkipped, first: first)
  }

  /// What is wrong when the name stands for this file now; nil when it only grew.
  func loss(_ now: SeenFile) -> FollowPlan.Loss? {
    let isSame = now.number == number && (born == 0 || now.born == 0 || now.born == born)
    let reason = !isSame ? "replaced" : now.size < cutter.reached ? "truncated" : nil
    return reason.map { .init(path: path, reason: $0, offset: cutter.offset) }
  }
}
