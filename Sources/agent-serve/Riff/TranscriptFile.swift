import CLibc
import Core

struct TranscriptFile {
  /// Bytes at a time; a turn that ended before as much of other lines is not news.
  static let window = 16 << 20
  private static let firstWindow = 256 << 10

  private(set) var latest: FinishedTurn?
  private var identity: FileIdentity?
  private var version: FileVersion?
  private var end = 0

  mutating func look(_ path: String) {
    let descriptor = clibc_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return forget() }
    defer { close(descriptor) }
    guard let identity = FileIdentity(descriptor: descriptor),
      let version = FileVersion(descriptor)
    else { return forget() }
    let size = Int(version.size)
    if identity != self.identity || size < end { forget() }
    guard version != self.version else { return }
    (self.identity, self.version) = (identity, version)
    if end > 0, size - end <= Self.window {
      if let turn = read(descriptor, from: end, to: size) { latest = turn }
      return
    }
    // From the end backwards, as far as need be.
    var width = Self.firstWindow
    while true {
      let start = max(0, size - width)
      end = start
      latest = read(descriptor, from: start, to: size)
      if latest != nil || start == 0 || width >= Self.window { return }
      width *= 4
    }
  }

  private mutating func forget() { self = TranscriptFile() }

  private mutating func read(_ descriptor: Int32, from start: Int, to size: Int) -> FinishedTurn? {
    let wanted = size - start
    let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
      while count < wanted {
        let place = buffer.baseAddress.map { $0 + count }
        let got = pread(descriptor, place, wanted - count, off_t(start + count))
        if got <= 0 { break }
        count += got
      }
    }
    let (turn, whole) = bytes.withUnsafeBytes { FinishedTurn.last(in: $0) }
    end = start + whole
    // Or it would be the last one until its time has come.
    return turn?.asWritten(Int((version?.modified ?? 0) / 1_000_000))
  }
}
