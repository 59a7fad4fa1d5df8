import CLibc
import Core
import Records
import Shell
import Turns

/// Follows transcripts of this machine.
final class LocalFollow {
  /// Absolute, as the user named it.
  private let path: String
  private let plan: FollowPlan
  private let output: TranscriptOutput
  private let once: Bool
  private var next = (soonest: 0.0, latest: 0.0)
  private var watched: Set<UInt64> = []
  /// What the look at the place that goes on has met.
  private var found: [SeenFile] = []
  /// Readable when something may have changed; -1 where the system does not tell.
  private let hint = clibc_changes()
  /// Where records are written, if that is a file: reading it would not end.
  private var target = stat()
  private static let mostWatched = 100
  private var buffer = [UInt8](repeating: 0, count: 256 << 10)

  init(_ path: String, _ plan: FollowPlan, _ output: TranscriptOutput, once: Bool) {
    (self.path, self.plan, self.output, self.once) = (path, plan, output, once)
    plan.most = buffer.count
    if fstat(1, &target) != 0 { target = stat() }
  }

  /// With `--once` until all is printed, else until a signal or a closed pipe.
  func run() throws -> ExitStatus {
    do {
      try output.tell(RecordText(.open).string("url", FileName.shown(path)))
      while true {
        if hint >= 0 { clibc_folder_drain(hint) }
        try output.tell(plan.look(look()))
        try plan.read(to: output, whole: Self.readWhole) { piece, bytes in
          output.check(plan)
          let count = read(piece)
          try buffer.withUnsafeBytes { try bytes(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        let save = try output.settle(plan, isLast: once)
        if once { return output.finish(plan) }
        wait(until: min(save, next.latest))
      }
    } catch let failure as WriteFailure {
      output.leave(failure)
    }
  }

  /// At all files or, a moment later and with many, at those at which somebody is at work.
  private func look() -> [SeenFile] {
    let began = Clock.monotonic
    found = []
    if began < next.soonest {
      next.latest = next.soonest
      for path in plan.recent {
        if let status = stat(following: path), status.isRegular { add(path, status) }
      }
      return found
    }
    look(at: path)
    let now = Clock.monotonic
    // A tenth of the time at most, or a fiftieth.
    next = (now + 9 * (now - began), now + max(1, 49 * (now - began)))
    return found
  }

  private static func readWhole(_ path: String) -> [UInt8]? {
    try? BoundedFile.given(path, limit: ClaudeTranscripts.originLimit)
  }

  private func wait(until end: Double) {
    // What is written in a burst is read at once.
    var set = PollSet(EndSignals.descriptor)
    set.wait(seconds: 0.005)
    output.check(plan)
    set.add(hint)
    set.wait(seconds: end - Clock.monotonic)
    output.check(plan)
  }

  // MARK: The place

  private func look(at path: String) {
    guard let status = stat(following: path) else { return }
    if status.isFolder {
      look(in: path, status, depth: ClaudeTranscripts.depth)
    } else if status.isRegular {
      add(path, status)
    }
  }

  private func look(in folder: String, _ status: stat, depth: Int) {
    watch(in: folder, status, depth)
    guard let stream = opendir(folder) else {
      output.fault(folder, systemReason(systemError))
      return
    }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = FileName.text(entry)
      if name == "." || name == ".." { continue }
      let isTranscript = name.hasSuffix(ClaudeTranscripts.suffix)
      guard isTranscript || (depth > 1 && Int(entry.pointee.d_type) != Int(DT_REG)) else {
        continue
      }
      let path = Folders.join(folder, name)
      // Gone since, or a link to nothing.
      guard let status = stat(following: path) else { continue }
      if status.isFolder, depth > 1 {
        look(in: path, status, depth: depth - 1)
      } else if status.isRegular, isTranscript,
        depth > ClaudeTranscripts.depthOfSubagents || ClaudeTranscripts.isOfSubagent(path)
      {
        add(path, status)
      }
    }
  }

  private func add(_ path: String, _ status: stat) {
    if status.st_ino == target.st_ino, status.st_dev == target.st_dev {
      return output.fault(path, "is the output: not read")
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
  private func watch(in folder: String, _ status: stat, _ depth: Int) {
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

  private func watch(_ path: String, _ status: stat) {
    guard hint >= 0, watched.insert(UInt64(status.st_ino)).inserted else { return }
    clibc_changes_add(hint, path)
  }

  /// Nothing when the file is another by now, or cannot be read.
  private func read(_ piece: FollowPlan.Piece) -> Int {
    let file = clibc_open(piece.path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
    guard file >= 0 else {
      if systemError != ENOENT { output.fault(piece.path, systemReason(systemError)) }
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
        output.fault(piece.path, systemReason(systemError))
        return 0
      }
    }
  }
}
