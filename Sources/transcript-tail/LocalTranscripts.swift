import CLibc
import Core
import Turns

struct LocalTranscripts {
  /// Absolute, as the user named it.
  let path: String
  var fault: (_ path: String, _ reason: String) -> Void = { _, _ in }
  private var watched: Set<UInt64> = []
  private let hint = clibc_changes()
  /// Where records are written, if that is a file: reading it would not end.
  private let target: stat
  private static let mostWatched = 100
  private var buffer = [UInt8](repeating: 0, count: 256 << 10)

  init(_ path: String, mayBeMissing: Bool) throws(Failure) {
    self.path = path
    if let status = stat(following: path) {
      guard status.isFolder || status.isRegular else {
        throw Failure(path, "not a file or folder")
      }
    } else if !mayBeMissing || systemError != ENOENT {
      throw Failure(path, systemReason(systemError))
    }
    var target = stat()
    if fstat(1, &target) != 0 { target = stat() }
    self.target = target
  }

  /// Readable when something may have changed; -1 where the system does not tell.
  var descriptor: Int32 { hint }

  func forget() { if hint >= 0 { clibc_folder_drain(hint) } }

  mutating func look() -> [SeenFile] {
    var found: [SeenFile] = []
    guard let status = stat(following: path) else { return [] }
    if status.isFolder {
      look(in: path, status, depth: ClaudeTranscripts.depth, &found)
    } else if status.isRegular {
      add(path, status, &found)
    }
    return found
  }

  mutating func look(at paths: [String]) -> [SeenFile] {
    var found: [SeenFile] = []
    for path in paths {
      if let status = stat(following: path), status.isRegular { add(path, status, &found) }
    }
    return found
  }

  private mutating func look(
    in folder: String, _ status: stat, depth: Int, _ found: inout [SeenFile]
  ) {
    watch(in: folder, status, depth)
    guard let stream = opendir(folder) else {
      fault(folder, systemReason(systemError))
      return
    }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        FileName.text(Array(bytes.prefix { $0 != 0 }))
      }
      if name == "." || name == ".." { continue }
      let isTranscript = name.hasSuffix(ClaudeTranscripts.suffix)
      guard isTranscript || (depth > 1 && Int(entry.pointee.d_type) != Int(DT_REG)) else {
        continue
      }
      let path = Folders.join(folder, name)
      // Gone since, or a link to nothing.
      guard let status = stat(following: path) else { continue }
      if status.isFolder, depth > 1 {
        look(in: path, status, depth: depth - 1, &found)
      } else if status.isRegular, isTranscript,
        depth > ClaudeTranscripts.depthOfSubagents || ClaudeTranscripts.isOfSubagent(path)
      {
        add(path, status, &found)
      }
    }
  }

  private mutating func add(_ path: String, _ status: stat, _ found: inout [SeenFile]) {
    if status.st_ino == target.st_ino, status.st_dev == target.st_dev {
      return fault(path, "is the output: not read")
    }
    let version = FileVersion(status)
    found.append(
      SeenFile(
        path: path, number: UInt64(status.st_ino), born: clibc_born(path), size: version.size,
        modified: version.modified))
    // Of a folder alone, kqueue does not tell that a file in it grew. Each costs a
    // descriptor: those at which somebody is at work are enough.
    #if os(Linux)
      let isWorthIt = path == self.path
    #else
      let isWorthIt = path == self.path || isRecent(status)
    #endif
    if isWorthIt { watch(path, status) }
  }

  /// Watches a folder. Those of single sessions are many, and where each costs a descriptor the
  /// recent ones are enough.
  private mutating func watch(in folder: String, _ status: stat, _ depth: Int) {
    #if os(Linux)
      watch(folder, status)
    #else
      if depth > ClaudeTranscripts.depthOfSubagents || isRecent(status) { watch(folder, status) }
    #endif
  }

  private func isRecent(_ status: stat) -> Bool {
    let age = Timestamp.now().seconds - FileVersion(status).modified / 1_000_000_000
    return age < 86_400 && watched.count < Self.mostWatched
  }

  private mutating func watch(_ path: String, _ status: stat) {
    guard hint >= 0, watched.insert(UInt64(status.st_ino)).inserted else { return }
    clibc_changes_add(hint, path)
  }

  /// Nothing when the file is another by now, or cannot be read.
  mutating func read<Result>(
    _ piece: FollowPlan.Piece, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    let count = read(piece)
    return try buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  /// The most that is read at once, bytes.
  var most: Int { buffer.count }

  private mutating func read(_ piece: FollowPlan.Piece) -> Int {
    let file = clibc_open(piece.path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
    guard file >= 0 else {
      if systemError != ENOENT { fault(piece.path, systemReason(systemError)) }
      return 0
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.isRegular, UInt64(status.st_ino) == piece.number else {
      return 0
    }
    while true {
      let count = pread(file, &buffer, min(piece.count, buffer.count), off_t(piece.offset))
      if count >= 0 { return count }
      if systemError != EINTR {
        fault(piece.path, systemReason(systemError))
        return 0
      }
    }
  }
}
