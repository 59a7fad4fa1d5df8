import CLibc
import Core
import Testing

@testable import Archive

/// A file in memory that can be read as one.
private final class PackFile {
  let descriptor: Int32
  let size: Int

  init(_ bytes: [UInt8]) {
    let (opened, name) = temporaryFile(beside: "/tmp/archive-tests")
    unlink(name)
    descriptor = opened
    size = bytes.count
    _ = bytes.withUnsafeBytes { write(opened, $0.baseAddress, $0.count) }
    lseek(opened, 0, SEEK_SET)
  }

  deinit { close(descriptor) }
}

/// What is written to a file of these frames, with what index.
private func packed(_ frames: [String], index: String? = nil) throws -> [UInt8] {
  let encoder = FrameEncoder(level: 1, piece: 1000)
  var (bytes, text, table) = ([UInt8](), "", SeekTable())
  var (size, lines) = (0, 0)
  for frame in frames {
    Array(frame.utf8).withUnsafeBytes { frame in
      encoder.pack(frame) { packed in
        bytes += packed
        table.add(size: packed.count, length: frame.count)
        let count = frame.count { $0 == 10 }
        text += #"{"size":\#(packed.count),"length":\#(frame.count),"lines":\#(count)}"# + "\n"
        (size, lines) = (size + packed.count, lines + count)
      }
    }
  }
  let whole =
    index ?? #"{"version":1,"size":\#(size),"length":0,"lines":\#(lines)}"# + "\n" + text
  Array(whole.replacingSize(size).utf8).withUnsafeBytes { text in
    encoder.pack(text) { packed in
      bytes += SeekTable.head(PackIndex.magic, PackIndex.mark.count + packed.count)
      bytes += PackIndex.mark + packed
    }
  }
  return bytes + table.bytes
}

extension String {
  /// With the true size for the word SIZE.
  fileprivate func replacingSize(_ size: Int) -> String {
    split(separator: "SIZE", omittingEmptySubsequences: false).joined(separator: String(size))
  }
}

@Suite struct PackIndexTests {
  @Test func findsTheFrames() throws {
    let file = PackFile(try packed(["{}\n{}\n", "{}\n"]))
    let index = try #require(PackIndex(of: file.descriptor, fileSize: file.size))
    let frames = try #require(index.frames())
    #expect(frames.map(\.firstLine) == [1, 3])
    #expect(frames.map(\.summary.length) == [6, 3])
    #expect(frames[1].offset == frames[0].summary.size)
    #expect(lseek(file.descriptor, 0, SEEK_CUR) == 0)
  }

  @Test func believesNoOtherVersion() throws {
    let line = #"{"version":2,"size":SIZE,"lines":1}"# + "\n"
    let file = PackFile(try packed(["{}\n"], index: line))
    #expect(PackIndex(of: file.descriptor, fileSize: file.size) == nil)
  }

  /// Indexes with a good checksum that were made to hurt.
  @Test(arguments: [
    #"{"size":SIZE,"length":3,"lines":2}"#,
    #"{"size":SIZE,"length":999999999999999999,"lines":1}"#,
    #"{"size":SIZE,"length":20000000,"lines":1000}"#,
    #"{"size":SIZE,"length":20000000000000,"lines":1}"#,
    #"{"size":SIZE,"length":3,"lines":1,"actions":999999999999999999}"#,
    #"{"size":999999999999999999,"length":3,"lines":1}"#,
    #"{"size":0,"length":0,"lines":1}"#,
    #"{"size":-1,"length":3,"lines":1}"#,
    #"{"size":SIZE,"length":3,"lines":1,"kinds":{"a":1}"#,
    #"{"size":SIZE,"length":3,"lines":1,"users":{"a":1}}"#,
    #"{"size":SIZE,"length":3,"lines":1,"kinds":["a"]}"#,
    #"[1]"#, "", #"{"size":SIZE,"length":3,"lines":1}"# + "\n" + #"{"size":1,"length":1}"#,
  ])
  func refuses(_ frame: String) throws {
    let first = #"{"version":1,"size":SIZE,"lines":1}"# + "\n"
    let file = PackFile(try packed(["{}\n"], index: first + frame + "\n"))
    #expect(PackIndex(of: file.descriptor, fileSize: file.size)?.frames() == nil)
  }

  @Test func survivesEveryCutAndEveryFlip() throws {
    let whole = try packed(["{}\n{}\n", "{}\n"])
    for cut in 0..<whole.count {
      let file = PackFile(Array(whole[..<cut]))
      #expect(PackIndex(of: file.descriptor, fileSize: cut) == nil)
    }
    let file = PackFile(whole)
    let good = try #require(PackIndex(of: file.descriptor, fileSize: file.size))
    let frames = try #require(good.frames())
    for place in good.summary.size..<whole.count {
      var bytes = whole
      bytes[place] ^= 1 << UInt8(place % 8)
      let file = PackFile(bytes)
      guard let index = PackIndex(of: file.descriptor, fileSize: file.size) else { continue }
      // Sizes that only other readers use.
      #expect(index.frames()?.map(\.offset) == frames.map(\.offset), "byte \(place)")
    }
  }
}

@Suite struct PackedStreamTests {
  private func unpack(_ bytes: [UInt8], room: Int) throws -> [UInt8] {
    let file = PackFile(bytes)
    let stream = PackedStream(descriptor: file.descriptor)
    var (out, part) = ([UInt8](), [UInt8](repeating: 0, count: room))
    while true {
      let count = try part.withUnsafeMutableBytes { try stream.read(into: $0) }
      if count == 0 { return out }
      out += part[..<count]
    }
  }

  @Test(arguments: [1, 2, 7, 1000])
  func readsFramesAndSkipsOthers(room: Int) throws {
    let bytes = try packed(["one\n", "two\nthree\n"])
    #expect(try unpack(bytes, room: room) == Array("one\ntwo\nthree\n".utf8))
    #expect(try unpack(bytes + bytes, room: room).count == 28)
  }

  @Test func tellsWhatIsCutShort() throws {
    let bytes = try packed(["one\n", "two\n"])
    let file = PackFile(bytes)
    let index = try #require(PackIndex(of: file.descriptor, fileSize: file.size))
    let ends = try #require(index.frames()).map(\.offset) + [0, index.summary.size]
    let table = SeekTable.headSize + 16 + SeekTable.footSize
    for cut in 0..<bytes.count {
      let isEnd = ends.contains(cut) || cut == bytes.count - table
      if isEnd {
        #expect(throws: Never.self) { try unpack(Array(bytes[..<cut]), room: 100) }
      } else {
        #expect(throws: Failure.self) { try unpack(Array(bytes[..<cut]), room: 100) }
      }
    }
  }
}
