import Archive
import Core

/// What is still to be read.
final class InputQueue {
  /// All of it, in its order.
  let entries: [InputList.Entry]
  private let target: FileIdentity?
  private var place = 0
  /// The file that was taken last, as it was then.
  private(set) var opened: (path: String, identity: FileIdentity?) = ("", nil)
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
    let entry = entries[place]
    if case .rest = entry { return entry }
    if let path = entry.path { opened = (path, FileIdentity(path: path)) }
    return entry
  }

  /// The next one, if it is a file whose frames can be read one by one.
  ///
  /// - Parameter isWanted: see `PackedFile`.
  func takePacked(isWanted: (FrameSummary) -> Bool) -> PackedFile? {
    guard !isEmpty, !isKnown, let path = entries[place].path else { return nil }
    // Before it is opened: another one that takes its place has more in it.
    let identity = FileIdentity(path: path)
    guard let file = PackedFile(path, writtenTo: target, isWanted: isWanted) else {
      isKnown = true
      return nil
    }
    opened = (path, identity)
    place += 1
    return file
  }
}
