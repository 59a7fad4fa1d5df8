import CLibc
import Core

/// The index at the end of a file that `PackWriter` wrote.
public final class PackIndex {
  static let version = 1
  /// Of the skippable frame that it is in, and the first bytes of that.
  static let magic: UInt32 = 0x184d_2a51
  static let mark = Array("agentidx".utf8)
  /// So much of the end is read at first: as a rule all there is to read.
  private static let firstRead = 64 * 1024
  private static let largest = 256 << 20
  /// Of more than one line, a frame is at most so large, unpacked.
  private static let largestFrame = 8 << 20
  /// And of one line. The seek table knows no larger one.
  private static let largestLine = 1 << 30
  private static let mostFrames = 1 << 20

  private let text: UnsafeMutableRawBufferPointer
  private let behindSummary: Int
  /// Of all frames together.
  public let summary: FrameSummary
  /// How many frames there are.
  public let count: Int

  /// Looks for the index of a file.
  ///
  /// - Parameter descriptor: an open regular file; its place is left where it is.
  /// - Returns: nil when there is none that fits the file.
  public init?(of descriptor: Int32, fileSize: Int) {
    guard let end = FileEnd(descriptor, fileSize, Self.firstRead),
      let foot = SeekTable.Foot(end.last(SeekTable.footSize)), foot.size < fileSize,
      foot.count <= Self.mostFrames, end.extend(to: foot.size)
    else { return nil }
    let table = end.last(foot.size)
    guard table.word(0) == SeekTable.magic,
      Int(table.word(4)) == foot.size - SeekTable.headSize
    else { return nil }
    var packed = 0
    for number in 0..<foot.count {
      packed += Int(table.word(SeekTable.headSize + number * foot.entrySize))
    }
    // Behind the frames and in front of the table there is the index, and nothing else.
    let size = fileSize - packed - foot.size
    let head = SeekTable.headSize + Self.mark.count
    guard packed >= 0, size > head, size <= Self.largest, end.extend(to: size + foot.size) else {
      return nil
    }
    let index = UnsafeRawBufferPointer(rebasing: end.last(size + foot.size).prefix(size))
    guard index.word(0) == Self.magic, Int(index.word(4)) == size - SeekTable.headSize,
      index[SeekTable.headSize..<head].elementsEqual(Self.mark),
      let text = Self.unpack(UnsafeRawBufferPointer(rebasing: index[head...]))
    else { return nil }
    guard let line = Self.firstLine(UnsafeRawBufferPointer(text)), let summary = FrameSummary(line),
      Self.isKnown(line), summary.size == packed
    else {
      text.deallocate()
      return nil
    }
    (self.text, behindSummary) = (text, line.count + 1)
    self.summary = summary
    count = foot.count
  }

  deinit { text.deallocate() }

  /// The frames in their order; nil when they are not such as the summary says.
  public func frames() -> [PackedFrame]? {
    var frames: [PackedFrame] = []
    var rest = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[behindSummary...])
    var (offset, line) = (0, 1)
    while !rest.isEmpty {
      guard let bytes = Self.firstLine(rest), let frame = FrameSummary(bytes), isBearable(frame),
        frame.size > 0, frame.size <= summary.size - offset, frame.lines <= summary.lines - line + 1
      else { return nil }
      frames.append(
        PackedFrame(number: frames.count + 1, offset: offset, firstLine: line, summary: frame))
      (offset, line) = (offset + frame.size, line + frame.lines)
      rest = UnsafeRawBufferPointer(rebasing: rest[(bytes.count + 1)...])
    }
    guard frames.count == count, offset == summary.size, line == summary.lines + 1 else {
      return nil
    }
    return frames
  }

  /// Whether a frame may be what it says, and be unpacked as a whole: only a line may be long,
  /// what is packed best is 128 KB in 3 bytes, and nothing becomes much larger.
  private func isBearable(_ frame: FrameSummary) -> Bool {
    frame.lines <= frame.length && frame.actions <= frame.length
      && frame.size <= FrameEncoder.bound(frame.length)
      && (frame.length > 0 || frame.size == summary.size)
      && (frame.length <= Self.largestFrame
        || frame.lines <= 1 && frame.length <= min(Self.largestLine, frame.size << 17))
  }

  private static func unpack(_ packed: UnsafeRawBufferPointer) -> UnsafeMutableRawBufferPointer? {
    guard let size = FrameDecoder.size(of: packed), size > 0, size <= largest else { return nil }
    let text = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    if (try? FrameDecoder().unpack(packed, into: text)) != nil { return text }
    text.deallocate()
    return nil
  }

  private static func firstLine(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard let start = bytes.baseAddress, let newline = memchr(start, 10, bytes.count) else {
      return nil
    }
    return UnsafeRawBufferPointer(
      start: start, count: UnsafeRawPointer(newline) - UnsafeRawPointer(start))
  }

  private static func isKnown(_ line: UnsafeRawBufferPointer) -> Bool {
    (try? ScanMembers.value(of: "version", in: line))?.wholeNumber == version
  }
}

/// A frame of a file, and where in it.
public struct PackedFrame {
  /// Counted from 1.
  public let number: Int
  /// Of its first byte in the file.
  public let offset: Int
  /// The number of its first line, from 1.
  public let firstLine: Int
  /// What is in it; valid as long as the index is.
  public let summary: FrameSummary
}

/// The last bytes of a file, and more of them as they are needed.
private final class FileEnd {
  private let descriptor: Int32
  private let fileSize: Int
  private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  init?(_ descriptor: Int32, _ fileSize: Int, _ count: Int) {
    (self.descriptor, self.fileSize) = (descriptor, fileSize)
    guard extend(to: min(count, fileSize)) else { return nil }
  }

  deinit { memory.deallocate() }

  /// The last bytes, valid until more are read.
  func last(_ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory).suffix(count))
  }

  /// Reads so many bytes, unless they are there.
  func extend(to count: Int) -> Bool {
    if count <= memory.count { return true }
    guard count <= fileSize else { return false }
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    guard readAll(from: descriptor, at: fileSize - count, into: room) == 0 else {
      room.deallocate()
      return false
    }
    memory.deallocate()
    memory = room
    return true
  }
}
