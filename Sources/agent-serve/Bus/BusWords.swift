import Core

/// What a `BusFeed` and its programs say. A program that ends again and again says the same again
/// and again, and is heard once.
struct BusWords {
  private let bus: String
  private let diagnostics: Diagnostics
  /// What was said since something began, and before that since the last acknowledgement.
  private var said: Set<String> = []
  private var saidBefore: Set<String> = []
  private var hasToldLoss = false

  private static let most = 64

  init(_ target: BusFeed.Target, _ diagnostics: Diagnostics) {
    (bus, self.diagnostics) = (target.bus, diagnostics)
  }

  mutating func tell(_ words: String) {
    if saidBefore.count > Self.most { saidBefore = [] }
    if said.count > Self.most { said = [] }
    if saidBefore.contains(words) { return }
    said.insert(words)
    diagnostics.say(words)
  }

  /// Passes on what a program says, but for the lines of its input, which nobody knows.
  mutating func hear(_ child: BusChild) {
    while let words = child.words() {
      if !words.hasPrefix("bus-put: standard input:") { tell(words) }
    }
  }

  /// Says that it is not known what is on the bus; once.
  mutating func tellLoss(_ reason: String) {
    if hasToldLoss { return }
    hasToldLoss = true
    diagnostics.error(
      "bus \(bus)", "\(reason): what was under way is sent again, and may be there twice")
  }

  mutating func end() {
    saidBefore.formUnion(said)
    said = []
  }

  mutating func forget() { saidBefore = [] }
}
