import Core
import Testing

@testable import agent_serve

@Suite("The bus")
struct BusFeedTests {
  private func mark(_ place: BusMark.Place?) -> BusMark {
    BusMark(store: "a-b_c", madeAt: Timestamp(seconds: 0), row: 4, place: place)
  }

  private func look(_ place: BusMark.Place?, _ lines: [String]) -> BusLook {
    var look = BusLook(mark(place))
    for line in lines { look.receive(Array(line.utf8)) }
    return look
  }

  @Test("What is there is known by its id")
  func look() {
    let found = look(
      .init(stream: "agents", sequence: 7),
      [
        #"{"type":"bus_message","stream":"agents","seq":7,"id":"a-b_c-4","data":{}}"#,
        #"{"type":"bus_message","stream":"agents","seq":8,"id":"a-b_c-6-Zz0_","data":{"id":"a-b_c-5"}}"#,
        #"{"type":"bus_message","stream":"agents","seq":9,"id":"a-b_d-5","data":{}}"#,
        #"{"type":"bus_message","stream":"agents","seq":10,"data":{"id":"a-b_c-5"}}"#,
        #"{"type":"bus_message","id":"a-b_c-5"#,
      ])
    #expect(found.ids == ["a-b_c-4", "a-b_c-6-Zz0_"])
    #expect(found.isWhole)
  }

  @Test("An id tells rows, texts and agents apart")
  func ids() {
    let mark = mark(nil)
    let id = mark.id(of: 4, Array("{}".utf8), agent: nil)
    #expect(id.hasPrefix("a-b_c-4-") && id.count == 8 + 12)
    #expect(id == mark.id(of: 4, Array("{}".utf8), agent: nil))
    let others = [
      mark.id(of: 5, Array("{}".utf8), agent: nil), mark.id(of: 4, Array("[]".utf8), agent: nil),
      mark.id(of: 4, Array("{}".utf8), agent: "ada"), mark.oldID(of: 4),
    ]
    #expect(Set(others + [id]).count == 5)
  }

  @Test("A stream that no longer holds the last one may lack others")
  func forgotten() {
    let place = BusMark.Place(stream: "agents", sequence: 7)
    #expect(!look(place, []).isWhole)
    let later = [#"{"stream":"agents","seq":8}"#, #"{"stream":"agents","seq":7}"#]
    #expect(!look(place, later).isWhole)
    #expect(!look(place, [#"{"stream":"other","seq":7}"#]).isWhole)
    #expect(look(nil, []).isWhole)
  }

  @Test("A bus begins with what is stored from then on, and keeps its name")
  func marks() async throws {
    let store = try ActionStore(path: ":memory:")
    _ = try await store.insert([Fixture.action(), Fixture.action()])
    let (first, isNew) = try await store.busMark("a")
    #expect(isNew && first.row == 2 && first.place == nil)
    _ = try await store.insert([Fixture.action()])
    var mark = first
    (mark.row, mark.place) = (3, .init(stream: "agents", sequence: 9))
    try store.keep(mark, "a")
    let again = try await store.busMark("a")
    #expect(again.mark == mark && !again.isNew)
    let other = try await store.busMark("b").mark
    #expect(other.row == 3 && other.store != mark.store)
  }

  @Test("A bus, and the name of an agent")
  func target() throws {
    let parse = { try ServeOptions.table.parse(["--bus", $0], ServeOptions()).bus }
    #expect(try parse("home") == .init(bus: "home", agent: nil))
    #expect(try parse("home/ada-1_B") == .init(bus: "home", agent: "ada-1_B"))
    for wrong in ["", "/ada", "home/", "home/a.b", "home/*", "home/a b", "home/a/b"] {
      #expect(throws: UsageError.self) { _ = try parse(wrong) }
    }
  }
}
