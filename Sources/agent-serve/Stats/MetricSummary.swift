/// How long something took, over many times: the dashboard's summary.
struct MetricSummary: Equatable {
  /// How many values there are.
  let count: Int
  /// Smallest, median, 95th percentile (nearest rank), mean and largest, in
  /// milliseconds; nil when there is no value.
  let figures: (min: Double, p50: Double, p95: Double, average: Double, max: Double)?

  /// - Parameter values: milliseconds, in any order.
  init(_ values: [Double]) {
    let sorted = values.sorted()
    count = sorted.count
    guard let first = sorted.first, let last = sorted.last else {
      figures = nil
      return
    }
    func rank(_ part: Double) -> Double {
      sorted[min(max(Int((Double(sorted.count) * part).rounded(.up)) - 1, 0), sorted.count - 1)]
    }
    let mean = sorted.reduce(0, +) / Double(sorted.count)
    figures = (first, rank(0.5), rank(0.95), (mean * 10).rounded() / 10, last)
  }

  static func == (a: MetricSummary, b: MetricSummary) -> Bool { a.json == b.json }

  /// The object of the wire, with null where there is no value.
  var json: String {
    guard let figures else {
      return #"{"count":0,"minMs":null,"p50Ms":null,"p95Ms":null,"avgMs":null,"maxMs":null}"#
    }
    let number = JSONText.number
    return """
      {"count":\(count),"minMs":\(number(figures.min)),"p50Ms":\(number(figures.p50)),\
      "p95Ms":\(number(figures.p95)),"avgMs":\(number(figures.average)),\
      "maxMs":\(number(figures.max))}
      """
  }
}
