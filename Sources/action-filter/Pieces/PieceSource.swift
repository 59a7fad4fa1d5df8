import Core

/// A part of what is to be read, which one thread reads and filters by itself: whole lines.
struct Piece {
  /// What the user called the file; `-` is standard input.
  var path: String
  /// Counted from 1, where a byte order mark may stand; nil: behind the last line of the piece
  /// before.
  var firstLine: Int?
  /// Brings the lines into the buffer that the source was given, in a thread of its own and
  /// beside others that fill theirs; nil where `next` has done so.
  ///
  /// Throws `Failure` when the lines cannot be read, or not to the last one: those that
  /// are in the buffer count, and no piece behind this one does.
  var fill: ((PieceBuffer) throws(Failure) -> Void)?
  /// Whether the pieces behind this one count, too, where it cannot be read.
  var isAlone = false
  /// How many actions are selected, where that is known without reading its lines: all of them,
  /// as they are, or there is nothing to print.
  var taken: Int?

  /// A piece whose lines are in the buffer, if there is nothing to fill it with.
  init(path: String, firstLine: Int? = nil, fill: ((PieceBuffer) throws(Failure) -> Void)? = nil) {
    (self.path, self.firstLine, self.fill) = (path, firstLine, fill)
  }
}

/// Parts what is to be read into pieces, in the order in which their output is written.
///
/// What can be read from any place (spans of a plain file, frames of an archive) is filled
/// by the thread that takes the piece; what can be read only in order (what a decompressor
/// writes) is put into the buffer by `next` itself.
protocol PieceSource: AnyObject {
  /// The next piece; nil when there is no more, and then it is not asked again.
  ///
  /// It is called by any of the threads, but by one at a time, and by none after it has
  /// thrown. It may take its time: the others go on with the pieces that they have.
  func next(_ buffer: PieceBuffer) throws(Failure) -> Piece?
}

enum PieceSize {
  /// Bytes: half of what a core has of second cache, as a rule. A multiple of every size
  /// of a page.
  static let usual = 512 * 1024
  /// What is read behind a span at once, in which its last line ends as a rule.
  static let slack = 4096
}
