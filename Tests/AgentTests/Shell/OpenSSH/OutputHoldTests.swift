import CLibc
import Testing

@testable import Core
@testable import Shell

@Suite struct OutputHoldTests {
  /// The first turn: from 10.5 on it was held for a second.
  private func inTurn(spent: Double?) -> OutputHold {
    var hold = OutputHold()
    #expect(hold.next == nil)
    #expect(hold.waiting(10, spent: spent) == nil)
    #expect(hold.next == 10.5)
    #expect(hold.waiting(10.4, spent: spent) == nil)
    #expect(hold.waiting(10.5, spent: spent) == SIGSTOP)
    #expect(hold.next == 11.5)
    #expect(hold.waiting(11, spent: spent) == nil)
    #expect(hold.waiting(11.5, spent: spent) == SIGCONT)
    return hold
  }

  @Test func whatWaitsIsHeldButForAMomentInEachSecond() throws {
    var spent = 1.0
    var hold = inTurn(spent: spent)
    let first = try #require(hold.next)
    #expect(first < 11.51)
    var seconds = 0.0
    var last = 11.5
    var isRunning = true
    for _ in 0..<10 {
      let next = try #require(hold.next)
      if isRunning { (seconds, spent) = (seconds + next - last, spent + next - last) }
      if let signal = hold.waiting(next, spent: spent) { isRunning = signal == SIGCONT }
      last = next
    }
    #expect(seconds > 0.01 && seconds < 0.06)
  }

  @Test func whatGetsNoProcessorIsNotStoppedBeforeItDid() throws {
    var hold = inTurn(spent: 1)
    var looks = 0
    while let next = hold.next, next < 20 {
      try #require(hold.waiting(next, spent: 1) == nil)
      looks += 1
    }
    // Seldom enough to cost nothing.
    #expect(looks > 6 && looks < 24)
    let next = try #require(hold.next)
    #expect(hold.waiting(next, spent: 1.0001) == SIGSTOP)
  }

  @Test func whatHasLittleToDoMayTakeItsTime() throws {
    var hold = inTurn(spent: 1)
    while let next = hold.next, hold.waiting(next, spent: 1.001) == nil {}
    let goesOn = try #require(hold.next)
    #expect(goesOn - 1 > 11.6 && goesOn - 1 < 12)
  }

  @Test func whereTheTimeIsNotKnownATurnIsShort() {
    var hold = inTurn(spent: nil)
    #expect(hold.waiting(11.507, spent: nil) == SIGSTOP)
  }

  @Test func whatIsTakenGoesOn() {
    var hold = OutputHold()
    #expect(hold.taken() == nil)
    _ = hold.waiting(1, spent: 1)
    _ = hold.waiting(2, spent: 1)
    #expect(hold.taken() == SIGCONT)
    #expect(hold.next == nil)
    #expect(hold.taken() == nil)
    #expect(hold.waiting(3, spent: 1) == nil)
    #expect(hold.next == 3.5)
    // Whatever it did before: it is held again after the same time.
    #expect(hold.waiting(3.5, spent: 1) == SIGSTOP)
  }

  @Test func aKeyIsNotKeptWaiting() {
    var hold = OutputHold()
    #expect(hold.needed(1, spent: 1) == nil)
    _ = hold.waiting(1, spent: 1)
    #expect(hold.needed(1, spent: 1) == nil)
    _ = hold.waiting(2, spent: 1)
    #expect(hold.needed(2.1, spent: 1) == SIGCONT)
    #expect(hold.needed(2.1, spent: 1) == nil)
    #expect(hold.waiting(2.2, spent: 1) == nil)
    #expect(hold.waiting(2.4, spent: 1.006) == SIGSTOP)
  }

  @Test func theTimeOfAChildIsKnown() throws {
    let child = try ChildProcess(
      ["sh", "-c", "while :; do :; done"], input: .nothing, output: .nothing, error: .nothing)
    defer {
      child.kill(SIGKILL)
      _ = child.waitForEnd()
    }
    #if os(Linux)
      let before = try #require(child.processorTime)
      while try #require(child.processorTime) < before + 0.01 { usleep(1000) }
    #else
      #expect(child.processorTime == nil)
    #endif
  }
}
