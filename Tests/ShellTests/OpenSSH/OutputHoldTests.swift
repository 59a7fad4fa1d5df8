import CLibc
import Testing

@testable import Shell

@Suite struct OutputHoldTests {
  @Test func whatWaitsIsHeldButForAMomentInEachSecond() {
    var hold = OutputHold()
    #expect(hold.next == nil)
    #expect(hold.waiting(10) == nil)
    #expect(hold.next == 10.5)
    #expect(hold.waiting(10.4) == nil)
    #expect(hold.waiting(10.5) == SIGSTOP)
    #expect(hold.next == 11.5)
    #expect(hold.waiting(11) == nil)
    #expect(hold.waiting(11.5) == SIGCONT)
    #expect(hold.waiting(11.51) == SIGSTOP)
    var seconds = 0.0
    var last = 11.51
    for _ in 0..<10 {
      guard let next = hold.next else { break }
      if hold.waiting(next) == SIGSTOP { seconds += next - last }
      last = next
    }
    #expect(seconds < 0.05)
  }

  @Test func whatIsTakenGoesOn() {
    var hold = OutputHold()
    #expect(hold.taken() == nil)
    _ = hold.waiting(1)
    _ = hold.waiting(2)
    #expect(hold.taken() == SIGCONT)
    #expect(hold.next == nil)
    #expect(hold.taken() == nil)
    #expect(hold.waiting(3) == nil)
    #expect(hold.next == 3.5)
  }

  @Test func aKeyIsNotKeptWaiting() {
    var hold = OutputHold()
    #expect(hold.needed(1) == nil)
    _ = hold.waiting(1)
    #expect(hold.needed(1) == nil)
    _ = hold.waiting(2)
    #expect(hold.needed(2.1) == SIGCONT)
    #expect(hold.needed(2.1) == nil)
    #expect(hold.waiting(2.2) == SIGSTOP)
  }
}
