import CLibc
import Testing

@testable import share_inbox

@Suite struct FileCopierTests {
  /// A file without a name.
  private func file(_ size: Int) throws -> Int32 {
    let stream = try #require(tmpfile())
    defer { fclose(stream) }
    let descriptor = dup(fileno(stream))
    append(size, to: descriptor)
    lseek(descriptor, 0, SEEK_SET)
    return descriptor
  }

  private func append(_ size: Int, to descriptor: Int32) {
    let bytes = (0..<size).map { UInt8($0 & 255) }
    pwrite(descriptor, bytes, size, lseek(descriptor, 0, SEEK_END))
  }

  private func size(_ descriptor: Int32) -> Int64 { Int64(lseek(descriptor, 0, SEEK_END)) }

  @Test func allOfAFileIsCopiedAndTold() throws {
    let (source, target) = (try file(300_000), try file(0))
    var copier = FileCopier(from: source, to: target, limit: 300_000)
    var told: [Int64] = []
    #expect(copier.run { told.append($0) } == nil)
    #expect(copier.count == 300_000)
    #expect(size(target) == 300_000)
    #expect(told.last == 300_000)
    #expect(told == told.sorted())
    close(source)
    close(target)
  }

  @Test func aFileThatGrowsIsCutAtTheLimit() throws {
    let (source, target) = (try file(1000), try file(0))
    var copier = FileCopier(from: source, to: target, limit: 5000)
    // Somebody adds to it for as long as it is read.
    let trouble = copier.run { _ in
      let place = lseek(source, 0, SEEK_CUR)
      append(1000, to: source)
      lseek(source, place, SEEK_SET)
    }
    #expect(trouble?.0 == .source)
    #expect(trouble?.1 == EFBIG)
    #expect(copier.count == 5001)
    close(source)
    close(target)
  }
}
