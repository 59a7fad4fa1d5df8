import TestSupport
import Testing

@testable import Core
@testable import Records

@Suite struct ActionWindowTests {
  func key(_ text: String) -> ActionKey { withBytes(text) { ActionKey(text: $0) } }

  @Test func countsEachSource() {
    var window = ActionWindow()
    func isNew(_ source: ActionWindow.Source, id: String? = nil) -> Bool {
      window.isNew(id: id.map { key($0) }, key: key("k"), source: source)
    }
    #expect(isNew(.actionEvent))
    #expect(!isNew(.voiceEvent))
    #expect(!isNew(.row, id: "1"))
    #expect(!isNew(.row, id: "1"))
    #expect(isNew(.row, id: "2"))
    #expect(!isNew(.actionEvent))
    #expect(isNew(.actionEvent))
    #expect(!isNew(.row, id: "3"))
    #expect(!isNew(.bare))
  }

  @Test func forgetsTheOldestAlone() {
    var window = ActionWindow(capacity: 100)
    func isNew(_ number: Int) -> Bool {
      window.isNew(id: key("id \(number)"), key: key("key \(number)"), source: .row)
    }
    for number in 0..<100 { #expect(isNew(number)) }
    for number in 0..<100 { #expect(!isNew(number)) }
    #expect(isNew(100))
    for number in 1...100 { #expect(!isNew(number), "\(number)") }
    #expect(isNew(0))
  }
}
