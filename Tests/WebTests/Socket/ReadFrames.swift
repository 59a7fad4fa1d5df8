import Core

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

/// Takes what a reader finds.
final class FrameLog: FrameTaker {
  private(set) var found: [ReadFrame] = []
  private var reader: FrameReader?

  /// Reads the pieces, each in memory of its own that is gone afterwards.
  static func read(_ pieces: [[UInt8]], limit: Int? = nil) -> [ReadFrame] {
    let log = FrameLog()
    let reader = FrameReader(limit: limit, taker: log)
    log.reader = reader
    for piece in pieces where !piece.isEmpty {
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
      defer {
        memory.initializeMemory(as: UInt8.self, repeating: 0xaa)
        memory.deallocate()
      }
      memory.copyBytes(from: piece)
      reader.supply(memory)
      switch reader.run() {
      case .drained: continue
      case .stopped: return log.found
      case .failed(let fault):
        log.found.append(.failed(fault.code))
        return log.found
      }
    }
    return log.found
  }

  func frames(message: SocketMessage) {
    found.append(
      message.isText
        ? .text(String(decoding: message.bytes, as: UTF8.self)) : .binary(Array(message.bytes)))
  }

  func frames(oversize bytes: Int) { found.append(.oversize(bytes)) }

  func frames(ping payload: UnsafeRawBufferPointer) { found.append(.ping(Array(payload))) }

  func frames(close: CloseFrame) {
    found.append(.close(close.code, close.reason))
    reader?.stop()
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
