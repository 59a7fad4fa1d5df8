import Screen
import Testing

@testable import voice_state

@Suite struct ScrollStateTests {
  private func state(total: Int, height: Int) -> ScrollState {
    var state = ScrollState()
    state.fit(total: total, height: height)
    return state
  }

  @Test func aShortTextDoesNotScroll() {
    var state = state(total: 5, height: 10)
    #expect(!state.isNeeded)
    for key in [Key.down, .pageDown, .end] {
      let isTaken = state.handle(key)
      #expect(isTaken)
      #expect(state.visible == 0..<5)
    }
  }

  @Test func keysMove() {
    var state = state(total: 50, height: 10)
    _ = state.handle(.down)
    #expect(state.visible == 1..<11)
    _ = state.handle(.character("j"))
    _ = state.handle(.pageDown)
    #expect(state.top == 11)
    _ = state.handle(.end)
    #expect(state.visible == 40..<50)
    _ = state.handle(.down)
    #expect(state.top == 40)
    _ = state.handle(.pageUp)
    _ = state.handle(.character("k"))
    #expect(state.top == 30)
    _ = state.handle(.home)
    #expect(state.top == 0)
    let isTaken = state.handle(.character("z"))
    #expect(!isTaken)
  }

  @Test func anotherSizeKeepsTheEndInTheWindow() {
    var state = state(total: 50, height: 10)
    _ = state.handle(.end)
    state.fit(total: 20, height: 10)
    #expect(state.visible == 10..<20)
    state.fit(total: 20, height: 30)
    #expect(state.visible == 0..<20)
    state.fit(total: 0, height: 0)
    #expect(state.visible == 0..<0)
  }

  @Test func aLineIsShown() {
    var state = state(total: 50, height: 10)
    state.show(25)
    #expect(state.visible.contains(25))
    state.show(3)
    #expect(state.top == 3)
    state.show(500)
    #expect(state.top == 40)
  }
}
