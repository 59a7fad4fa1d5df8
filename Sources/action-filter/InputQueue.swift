import Archive
import Core

/// What is still to be read.
final class InputQueue {
  /// All of it, in its order.
  let entries: [InputList.Entry]
  private let target: FileIdentity?
  private var place = 0
  /// Whether the next one was looked at, and is no packed file.
  private var isKnown = false

  /// - Parameters:
  ///   - entries: what is read.
  ///   - target: where records are written; that is not read.
  init(_ entries: [InputList.Entry], writtenTo target: FileIdentity?) {
    (self.entries, self.target) = (entries, target)
  }

  /// Whether there is nothing left.
  var isEmpty: Bool { place == entries.count }

  /// The next one, which is passed over.
  func take() -> InputList.Entry? {
    if isEmpty { return nil }
    defer { (place, isKnown) = (place + 1, false) }
    return entries[place]
  }

  /// The next one, if it is a file whose frames can be read one by one.
  ///
  /// - Parameter isWanted: see `PackedFile`.
  func takePacked(isWanted: (FrameSummary) -> Bool) -> PackedFile? {
    guard !isEmpty, !isKnown, let path = entries[place].path,
      let file = PackedFile(path, writtenTo: target, isWanted: isWanted)
    else {
      isKnown = true
      return nil
    }
    place += 1
    return file
  }
}
