import Core
import Turns

/// Reads a task as people type it: `deploy the pipeline tomorrow 9:00 !1 #ops`.
enum QuickTask {
  /// The longest title, characters, and the longest line, bytes.
  static let (longest, longestLine) = (500, 64 << 10)

  /// Reads one line. `!1` to `!4` is the priority, `#word` a label, `+word` the project, `@word`
  /// who does it if it is a handle or a DID; a date in words may stand anywhere; all else is the
  /// title. A word behind a backslash, and what stands between double quotes, is of the title.
  static func read(
    _ text: String, now: Timestamp, zone: LocalZone = .system
  ) throws(Failure) -> TaskDraft {
    let words = try words(text)
    var title: [String] = []
    var draft = TaskDraft(title: "")
    var at = 0
    while at < words.count {
      let word = words[at]
      if let end = quoteEnd(words, at) {
        title += words[at..<end]
        at = end
      } else if word.hasPrefix("\\"), word.count > 1 {
        title.append(String(word.dropFirst()))
        at += 1
      } else if try mark(word, &draft) {
        at += 1
      } else if let found = try DueWords.read(words[at...], now: now, zone: zone) {
        let said = words[at..<at + found.count].joined(separator: " ")
        if let other = draft.dueText { throw twice("dates", other, said) }
        (draft.due, draft.dueText) = (found.due, said)
        at += found.count
      } else {
        title.append(word)
        at += 1
      }
    }
    draft.title = try checked(title.joined(separator: " "))
    return draft
  }

  /// Reads one line that is a title and nothing else.
  static func plain(_ text: String) throws(Failure) -> String {
    try checked(words(text).joined(separator: " "))
  }

  private static func words(_ text: String) throws(Failure) -> [String] {
    guard text.utf8.count <= longestLine else {
      throw Failure("a line of more than \(longestLine) bytes")
    }
    return text.split(whereSeparator: \.isWhitespace).map(String.init)
  }

  private static func checked(_ title: String) throws(Failure) -> String {
    if title.isEmpty { throw Failure("no title") }
    guard title.unicodeScalars.count <= longest else {
      throw Failure("a title of more than \(longest) characters")
    }
    return title
  }

  private static func quoteEnd(_ words: [String], _ at: Int) -> Int? {
    guard words[at].hasPrefix("\"") else { return nil }
    return words[at...].firstIndex { $0.count > 1 && $0.hasSuffix("\"") }.map { $0 + 1 }
  }

  private static func twice(_ what: String, _ one: String, _ other: String) -> Failure {
    Failure("two \(what): \(one), and \(other); \\ before a word keeps it in the title")
  }

  private static func mark(_ word: String, _ draft: inout TaskDraft) throws(Failure) -> Bool {
    // A sign behind it is one of the sentence.
    let end = word.reversed().drop { ",.;:!?)".contains($0) }.count
    let name = String(word.prefix(end).dropFirst())
    switch word.first {
    case "!":
      guard let priority = Int(name), (1...4).contains(priority), name.count == 1 else {
        return false
      }
      if let one = draft.priority, one != priority { throw twice("priorities", "!\(one)", word) }
      draft.priority = priority
    case "#":
      // A number is that of something else.
      let names = name.split(separator: ",").map { String($0.first == "#" ? $0.dropFirst() : $0) }
      guard !names.isEmpty, names.allSatisfy({ $0.contains(where: \.isLetter) }) else {
        return false
      }
      for name in names where !draft.labels.contains(name) { draft.labels.append(name) }
    case "+":
      guard name.first?.isLetter == true else { return false }
      if let one = draft.project, one != name { throw twice("projects", "+\(one)", word) }
      draft.project = name
    case "@":
      guard isPerson(name) else { return false }
      if let one = draft.assignee, one != name { throw twice("persons", "@\(one)", word) }
      draft.assignee = name
    default: return false
    }
    return true
  }

  /// Whether a word is a DID (`did:plc:...`) or a handle (`alice.example.com`).
  static func isPerson(_ word: String) -> Bool {
    let bytes = Array(word.utf8)
    let isLetter = { (byte: UInt8) in (97...122).contains(byte | 32) }
    let isName = { (byte: UInt8) in byte.isAlphanumeric || byte == 45 }
    if word.hasPrefix("did:") {
      let parts = bytes.split(separator: 58, maxSplits: 2, omittingEmptySubsequences: false)
      return parts.count == 3 && !parts[1].isEmpty
        && parts[1].allSatisfy { (97...122).contains($0) }
        && bytes.count <= 2048 && bytes.last != 58 && !parts[2].isEmpty
        && parts[2].allSatisfy { isName($0) || ":._%".utf8.contains($0) }
    }
    let parts = bytes.split(separator: 46, omittingEmptySubsequences: false)
    return parts.count >= 2 && bytes.count <= 253
      && parts.allSatisfy {
        (1...63).contains($0.count) && $0.allSatisfy(isName) && $0.first != 45 && $0.last != 45
      } && parts.last?.first.map(isLetter) == true
  }
}
