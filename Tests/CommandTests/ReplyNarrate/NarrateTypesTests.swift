import Core
import Testing

@Suite struct RecentIDsTests {
  @Test func anIDIsNewOnceAmongTheLast() {
    var ids = RecentIDs<String>(most: 3)
    let isNew = [1, 2, 3, 4, 5, 6, 4, 5, 6, 1].map { ids.insert("\($0)") }
    #expect(isNew == [true, true, true, true, true, true, false, false, false, true])
  }
}
