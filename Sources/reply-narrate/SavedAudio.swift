import CLibc
import Core

/// The folder into which audio is put, a file for each turn.
struct SavedAudio {
  private let folder: Int32
  private let path: String

  /// - Parameter path: of the folder, which is made when it is missing.
  /// - Throws: `SettingsError`.
  init(_ path: String) throws(SettingsError) {
    try Folders.make(path)
    folder = clibc_open_folder(path)
    guard folder >= 0 else { throw SettingsError(path, systemReason(systemError)) }
    self.path = path
  }

  /// Writes a file that only the user can read; one that is there is left alone.
  ///
  /// - Parameters:
  ///   - time: when the turn ended, which gives the name: `1789000000.25.mp3`.
  ///   - audio: all of the file.
  /// - Returns: its path.
  /// - Throws: `SettingsError`, also for a file that is there.
  func write(_ time: Double, _ audio: [UInt8]) throws(SettingsError) -> String {
    let name = NumberText.of(time) + ".mp3"
    let file = Folders.join(path, name)
    let descriptor = clibc_create_in(folder, name)
    guard descriptor >= 0 else { throw SettingsError(file, systemReason(systemError)) }
    defer { close(descriptor) }
    let writer = RecordWriter(descriptor: descriptor)
    do throws(WriteFailure) {
      try writer.write(audio)
      try writer.flush()
    } catch {
      unlinkat(folder, name, 0)
      throw SettingsError(file, error.reason)
    }
    return file
  }
}
