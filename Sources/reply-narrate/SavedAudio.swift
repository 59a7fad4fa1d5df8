import CLibc
import Core

struct SavedAudio {
  private let folder: Int32
  private let path: String

  init(_ path: String) throws(Failure) {
    try Folders.make(path)
    folder = clibc_open_folder(path)
    guard folder >= 0 else { throw Failure(path, systemReason(systemError)) }
    self.path = path
  }

  /// Writes a file that only the user can read; one that is there is left alone. It has its
  /// name when all of it is written.
  func write(_ time: Double, _ audio: [UInt8]) throws(Failure) -> String {
    let name = NumberText.of(time) + ".mp3"
    let file = Folders.join(path, name)
    let code = FolderFile.create(name, in: folder, with: audio)
    guard code == 0 else { throw Failure(file, systemReason(code)) }
    return file
  }
}
