import Records

struct TurnTotal {
  private(set) var usage: TurnRecord.Usage?
  private var dollars: Double?

  mutating func add(_ usage: TurnRecord.Usage?, _ cost: Double?) {
    if let usage { self.usage = self.usage.map { $0 + usage } ?? usage }
    if let cost { dollars = (dollars ?? 0) + cost }
  }

  /// US dollars, without the dust that sums of doubles have behind the twelfth decimal.
  var cost: Double? {
    dollars.map { $0.magnitude < 1000 ? ($0 * 1e12).rounded() / 1e12 : $0 }
  }
}
