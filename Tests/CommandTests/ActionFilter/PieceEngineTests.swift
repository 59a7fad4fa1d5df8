import CLibc
import Core
import Testing

@testable import action_filter

/// Pieces with a number in each, filled as the source is asked or by the threads.
private final class Numbers: PieceSource {
  private let end: Int
  private let failing: Int?
  private let inOrder: Bool
  private var next = 0
  private var isOver = false
  private let busy = Lock()

  init(upTo end: Int, failing: Int? = nil, inOrder: Bool = false) {
    (self.end, self.failing, self.inOrder) = (end, failing, inOrder)
  }

  func next(_ buffer: PieceBuffer) throws(Failure) -> Piece? {
    #expect(!isOver, "asked again")
    #expect(buffer.count == 0 && buffer.lines.isEmpty)
    #expect(pthread_mutex_trylock(busy.mutex) == 0, "asked by two at once")
    defer { busy.unlock() }
    if next == end {
      isOver = true
      return nil
    }
    let number = next
    next += 1
    if inOrder {
      Self.put(number, buffer)
      if number == failing {
        isOver = true
        throw Failure("no more")
      }
      return Piece(path: "n")
    }
    return Piece(path: "n") { [failing] (buffer) throws(Failure) in
      Self.put(number, buffer)
      if number == failing { throw Failure("no more") }
    }
  }

  private static func put(_ number: Int, _ buffer: PieceBuffer) {
    let text = Array("\(number)\n".utf8)
    buffer.reserve(text.count)
    text.withUnsafeBytes { _ = memcpy(buffer.base, $0.baseAddress!, $0.count) }
    (buffer.count, buffer.lines) = (text.count, 0..<text.count)
  }
}

/// Reads the number; some take longer than others.
private func readNumber(of slot: PieceSlot) {
  let text = String(decoding: slot.buffer.bytes, as: UTF8.self)
  let number = text.utf8.dropLast().reduce(0) { $0 * 10 + Int($1 - 48) }
  slot.result.count = number
  for _ in 0..<(number * 7919 % 13) { sched_yield() }
}

@Suite struct PieceEngineTests {
  func engine(_ threads: Int) -> PieceEngine {
    PieceEngine(Array(repeating: readNumber, count: threads), size: 16)
  }

  @Test(arguments: [1, 2, 3, 8], [true, false])
  func handsOverInOrder(threads: Int, inOrder: Bool) throws {
    let engine = engine(threads)
    for end in [0, 1, 2, 5, 300, 1000] {
      var seen: [Int] = []
      try engine.run(Numbers(upTo: end, inOrder: inOrder)) { slot in
        seen.append(slot.result.count)
        return true
      }
      #expect(seen == Array(0..<end))
    }
  }

  @Test(arguments: [1, 2, 3, 8], [true, false])
  func endsWithAFailure(threads: Int, inOrder: Bool) {
    let engine = engine(threads)
    for failing in [0, 1, 7, 299] {
      var seen: [Int] = []
      #expect(throws: Failure("no more")) {
        try engine.run(Numbers(upTo: 300, failing: failing, inOrder: inOrder)) { slot in
          #expect(slot.piece.path == (failing == 0 && inOrder ? "" : "n"))
          seen.append(slot.result.count)
          return true
        }
      }
      #expect(seen == Array(0...failing), "what could be read before counts")
    }
  }

  @Test(arguments: [1, 2, 3, 8])
  func endsWhenNoMoreAreWanted(threads: Int) throws {
    let engine = engine(threads)
    for last in [0, 1, 50] {
      var seen: [Int] = []
      try engine.run(Numbers(upTo: 1_000_000)) { slot in
        seen.append(slot.result.count)
        return slot.result.count < last
      }
      #expect(seen == Array(0...last))
      #expect(throws: WriteFailure(code: 5)) {
        try engine.run(Numbers(upTo: 1_000_000)) { slot in
          if slot.result.count == last { throw WriteFailure(code: 5) }
          return true
        }
      }
    }
  }
}
