import Testing

@testable import Bus

@Suite struct BusStreamPlanTests {
  private func plan(_ sources: String...) -> BusStreamPlan {
    var plan = BusStreamPlan(prefixed: false)
    plan.subjects = []
    plan.sources = sources.compactMap { BusSource($0[...]) }
    return plan
  }

  @Test func sourcesAreAskedForByTheirDomains() {
    let text = String(decoding: plan("agents", "agents@ada").body("all"), as: UTF8.self)
    #expect(
      text.contains(
        #""sources":[{"name":"agents"},{"name":"agents","external":{"api":"$JS.ada.API","deliver":""}}]"#
      ))
    #expect(!text.contains("subjects"))
  }

  /// What a server made of it that does not know of something, or knows better.
  @Test(arguments: [
    ("", nil), (#""subjects":["a"],"#, "subjects"), (#""max_age":5,"#, "max_age"),
    (#""max_bytes":-1,"#, nil), (#""max_bytes":7,"#, "max_bytes"),
  ])
  func whatIsOtherwiseIsNamed(more: String, name: String?) {
    let text = """
      {"config":{\(more)"storage":"file","retention":"limits","num_replicas":1,
      "duplicate_window":600000000000,
      "sources":[{"name":"b","external":{"api":"$JS.ada.API","deliver":""}},{"name":"a"}]}}
      """
    #expect(plan("a", "b@ada").difference(in: BusAnswer(text: text)) == name)
    #expect(plan("a").difference(in: BusAnswer(text: text)) != nil)
    #expect(plan("a", "b").difference(in: BusAnswer(text: text)) != nil)
  }
}
