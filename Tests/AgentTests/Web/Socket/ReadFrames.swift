import Core
import Frames

@testable import Web

/// What a frame reader made of bytes, in a form that tests can compare.
enum ReadFrame: Equatable {
  case text(String)
  case binary([UInt8])
  case oversize(Int)
  case ping([UInt8])
  case close(UInt16?, String)
  case failed(UInt16)
}

extension ReadFrame {
  /// Reads the pieces, each in memory of its own that is gone afterwards.
  static func read(
    _ pieces: [[UInt8]], from sender: FrameReader.Sender = .server, limit: Int? = nil
  ) -> [ReadFrame] {
    let reader = FrameReader(from: sender, limit: limit)
    var found: [ReadFrame] = []
    for piece in pieces {
      found += read(piece, by: reader)
      switch found.last {
      case .close, .failed: return found
      case .text, .binary, .oversize, .ping, nil: continue
      }
    }
    return found
  }

  /// Reads one piece to its end, a close, or a fault.
  static func read(_ piece: [UInt8], by reader: FrameReader) -> [ReadFrame] {
    if piece.isEmpty { return [] }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
    defer {
      memory.initializeMemory(as: UInt8.self, repeating: 0xaa)
      memory.deallocate()
    }
    memory.copyBytes(from: piece)
    reader.supply(memory)
    var found: [ReadFrame] = []
    do throws(FrameFault) {
      while let item = try reader.next() {
        found.append(ReadFrame(item))
        if case .close = item { break }
      }
    } catch {
      found.append(.failed(error.code))
    }
    return found
  }

  private init(_ item: FrameReader.Item) {
    self =
      switch item {
      case .message(let message):
        message.isText
          ? .text(String(decoding: message.bytes, as: UTF8.self)) : .binary(Array(message.bytes))
      case .oversize(let bytes): .oversize(bytes)
      case .ping(let payload): .ping(payload)
      case .close(let frame): .close(frame.code, frame.reason)
      }
  }
}

/// A frame as a server sends it, or as it must not.
func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
  let count = payload.count
  switch count {
  case ..<126: return [first, UInt8(count)] + payload
  case ..<65536: return [first, 126, UInt8(count >> 8), UInt8(count & 255)] + payload
  default:
    let length = (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
    return [first, 127] + length + payload
  }
}

func frame(_ first: UInt8, _ text: String) -> [UInt8] { frame(first, Array(text.utf8)) }

/// The same frames as a client sends them, each under a mask of its own.
func masked(_ frames: [UInt8]) -> [UInt8] {
  var rest = frames[...]
  var made: [UInt8] = []
  var key: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]
  while rest.count > 1 {
    let digits = [126: 2, 127: 8][rest[rest.startIndex + 1]] ?? 0
    let head = rest.prefix(2 + digits)
    rest = rest.dropFirst(2 + digits)
    let length = digits == 0 ? head.suffix(1) : head.suffix(digits)
    // What is claimed may be more than there is.
    let count = length.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let payload = rest.prefix(Int(min(count, UInt64(rest.count))))
    rest = rest.dropFirst(payload.count)
    made += [head.first!, head[head.startIndex + 1] | 0x80] + head.dropFirst(2) + key
    made += payload.enumerated().map { $1 ^ key[$0 % 4] }
    key = key.map { $0 &* 5 &+ 13 }
  }
  return made
}
