import CLibc
import Core

extension ControlPlace {
  /// How long a file is left alone, seconds: somebody may be about to use it.
  private static let leftAlone = 120.0

  private static func changed(_ status: stat) -> Double {
    #if os(Linux)
      Double(status.st_mtim.tv_sec)
    #else
      Double(status.st_mtimespec.tv_sec)
    #endif
  }

  /// Removes what masters and commands that were killed have left behind.
  func sweep() {
    guard let stream = opendir(folder) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { place in
        place.withMemoryRebound(to: CChar.self, capacity: 256) { FileName.text($0) }
      }
      let path = folder + "/" + name
      var status = stat()
      guard lstat(path, &status) == 0,
        Clock.unix - Self.changed(status) > Self.leftAlone
      else { continue }
      let kind = status.st_mode & mode_t(S_IFMT)
      if kind == mode_t(S_IFSOCK), name.hasPrefix("m") {
        let socket = clibc_connect_local(path)
        if socket >= 0 {
          close(socket)
        } else if systemError == ECONNREFUSED {
          unlink(path)
        }
      } else if kind == mode_t(S_IFIFO), name.hasPrefix("log.") {
        // An ssh that has it open does not need its name.
        unlink(path)
      }
    }
  }
}
