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

  init(_ file: SeenFile, offset: Int64, limit: Int) {
    path = file.path
    key = FileKey(file.path)
    session = ClaudeTranscripts.session(of: file.path)
    (number, born) = (file.number, file.born)
    size = file.size
    modified = file.modified
    cutter = LineCutter(offset: offset, limit: limit)
  }

  /// One that goes on at a mark, whatever file has the name now: see `loss`.
  convenience init(_ file: SeenFile, from mark: FileMark, limit: Int) {
    var then = file
    then.number = mark.number
    if mark.born != 0 { then.born = mark.born }
    self.init(then, offset: mark.offset, limit: limit)
  }

  var isBehind: Bool { cutter.isBehind(size) }

  /// How far it was read.
  var mark: FileMark {
    FileMark(path: path, number: number, born: born, offset: cutter.offset)
  }

  /// What is wrong when the name stands for this file now; nil when it only grew.
  func loss(_ now: SeenFile) -> FollowPlan.Loss? {
    let isSame = now.number == number && (born == 0 || now.born == 0 || now.born == born)
    let reason = !isSame ? "replaced" : now.size < cutter.reached ? "truncated" : nil
    return reason.map { .init(path: path, reason: $0, offset: cutter.offset) }
  }
}
