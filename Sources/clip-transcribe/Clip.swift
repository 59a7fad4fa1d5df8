import CLibc
import Core

struct Clip {
  enum Format: String, CaseIterable, Sendable {
    case wav, m4a, ogg, aac
  }

  let name: String
  /// The file; nil for what can be read but once, as standard input.
  let path: String?
  let bytes: [UInt8]
  /// When it was recorded: when its file was last written, else now.
  let time: Timestamp

  /// Reads a clip whole.
  init(_ file: String, limit: Int) throws(Failure) {
    name = file == "-" ? "standard input" : file
    var status = stat()
    let isKnown = (file == "-" ? fstat(0, &status) : FileName.with(file) { stat($0, &status) }) == 0
    // Nothing of it has to be sent to know.
    let isFile = isKnown && status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG)
    path = isFile && file != "-" ? file : nil
    if isFile, Int(status.st_size) > limit {
      throw Failure(
        name, "too large (\((Int(status.st_size) + 0xf_ffff) >> 20) MB > \(limit >> 20) MB)")
    }
    bytes = try BoundedFile.given(file, limit: limit)
    if bytes.isEmpty { throw Failure(name, "empty") }
    time = isFile ? Timestamp(status.modified) : .now()
  }

  /// What its first bytes say it is; nil for none of these: RIFF with WAVE, an MP4's `ftyp`
  /// (ISO 14496-12, 4.3), `OggS` (RFC 3533, 6), the sync word of ADTS (ISO 13818-7, 6.2).
  var format: String? {
    let head = Array(bytes.prefix(12))
    func holds(_ word: String, at place: Int) -> Bool {
      head.dropFirst(place).starts(with: word.utf8)
    }
    if holds("RIFF", at: 0), holds("WAVE", at: 8) { return Format.wav.rawValue }
    if holds("ftyp", at: 4) { return Format.m4a.rawValue }
    if holds("OggS", at: 0) { return Format.ogg.rawValue }
    if head.count > 1, head[0] == 0xff, head[1] & 0xf6 == 0xf0 { return Format.aac.rawValue }
    return nil
  }
}

extension Timestamp {
  fileprivate init(_ time: timespec) {
    self.init(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
  }
}

extension stat {
  fileprivate var modified: timespec {
    #if os(Linux)
      st_mtim
    #else
      st_mtimespec
    #endif
  }
}
