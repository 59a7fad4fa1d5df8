import CLibc
import Core

/// Tells whether a clip is being recorded (`RecordingMark`).
final class RecordingWatch {
  /// Readable when that may have changed; -1 where the system cannot say.
  private(set) var descriptor: Int32 = -1
  private let mark: RecordingMark
  private(set) var isRecording = false
  private var next = 0.0

  /// Seconds between two looks when nothing hints at a change: while a clip is recorded, whose
  /// end is not always hinted at, and else.
  private static let (shortLook, longLook) = (0.1, 30.0)

  init() throws(Failure) {
    let folders = Folders()
    mark = RecordingMark(folders)
    _ = try folders.stateFile(RecordingMark.name)
    watchFolder()
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The folder may have been removed and made again, even with the same number.
  private func watchFolder() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = clibc_folder_watch(mark.folder)
  }

  /// Has the next `look` look, whether there was a hint or not.
  func hurry() { next = 0 }

  /// Looks, when it is time to or something changed.
  func look(now: Double) -> Double {
    guard descriptor >= 0 && isReadable(descriptor) || now >= next else { return next }
    watchFolder()
    // Behind it, so that nothing is missed.
    isRecording = mark.isSet
    next = now + (isRecording || descriptor < 0 ? Self.shortLook : Self.longLook)
    return next
  }
}
