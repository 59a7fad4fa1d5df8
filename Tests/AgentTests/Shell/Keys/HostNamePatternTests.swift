import TestSupport
import Testing

@testable import Shell

@Suite struct HostNamePatternTests {
  private func matches(_ pattern: String, _ name: String) -> Bool {
    HostNamePattern(Array(pattern.utf8)[...])?.matches(name) ?? false
  }

  @Test func whatAPatternMeans() {
    for (pattern, name, fits) in [
      ("box", "box", true), ("box", "boxx", false), ("BOX", "box", true), ("b,box", "box", true),
      ("[box]:2222", "[box]:2222", true), ("[box]:2222", "box", false),
      ("box", "[box]:2222", false),
      ("*", "anything", true), ("*", "", true), ("b?x", "box", true), ("b?x", "bx", false),
      ("*.example", "a.b.example", true), ("*.example", "example", false),
      ("*,!box", "box", false), ("!box,*", "box", false), ("!b*", "c", false), ("*,!b*", "c", true),
      ("a*b*c", "a1b2b3c", true), ("a*b*c", "a1c2b", false), ("[*]:22??", "[box]:2222", true),
      ("fe80::1%eth0", "fe80::1%eth0", true),
    ] { #expect(matches(pattern, name) == fits, "\(pattern) and \(name)") }
  }

  @Test func aPatternOfManyStarsIsQuick() {
    let name = String(repeating: "a", count: 4000)
    #expect(!matches(String(repeating: "a*", count: 2000) + "b", name))
  }

  @Test func whatIsNoPattern() {
    for text in [
      "", ",", "a,", ",a", "a,,b", "!", "|", "|1|", "|1||", "|1|AAAA|AAAA", "|2|a|b", "|1|x|y|z",
    ] { #expect(HostNamePattern(Array(text.utf8)[...]) == nil, "\(text)") }
  }

  /// ssh-keygen -F is asked about patterns by chance.
  @Test func theSameAsOpenSSH() throws {
    let box = KeyBox()
    var generator = SeededGenerator(seed: 11)
    let letters = ["a", "b", "A", ".", "*", "?", "!", ",", "[a]:22", "a.b"]
    var found = 0
    let key = KeyBox.key(1)
    let names = ["a", "ab", "a.b", "b.a", "[a]:22", "aa"]
    for _ in 0..<25 {
      let text = (0..<Int.random(in: 1...5, using: &generator))
        .map { _ in letters.randomElement(using: &generator) ?? "a" }.joined()
      box.write("hosts", "\(text) \(key.text)\n")
      guard let pattern = HostNamePattern(Array(text.utf8)[...]) else { continue }
      let answers = try #require(
        box.run(
          "for name in \(names.map { "'\($0)'" }.joined(separator: " ")); do "
            + "ssh-keygen -F \"$name\" -f hosts >/dev/null && echo 1 || echo 0; done"))
      let theirs = answers.split(separator: "\n").map { $0 == "1" }
      #expect(theirs == names.map(pattern.matches), "\(text)")
      found += theirs.count { $0 }
    }
    #expect(found > 5)
  }

  @Test func aHashedNameIsFound() throws {
    let box = KeyBox()
    let key = KeyBox.key(1)
    box.write("hosts", "box.example \(key.text)\n[box.example]:2222 \(key.text)\n")
    _ = try #require(box.run("ssh-keygen -q -H -f hosts"))
    let lines = box.read("hosts").split(separator: "\n").map { $0.prefix { $0 != " " } }
    #expect(lines.allSatisfy { $0.hasPrefix("|1|") } && lines.count == 2)
    #expect(matches(String(lines[0]), "box.example"))
    #expect(!matches(String(lines[0]), "[box.example]:2222"))
    #expect(matches(String(lines[1]), "[box.example]:2222"))
    #expect(!matches(String(lines[1]), "box.example"))
  }
}
