import CLibc
import Core

/// The choices that an agent shows, one of them under its cursor.
struct Dialog: Equatable {
  /// As they are shown, without their numbers; of a long one the first line.
  private(set) var labels: [String]
  /// Which is under the cursor.
  private(set) var cursor: Int
  private var numbers: [Int?]
  /// All of it, from the line above it on.
  private let text: [String]

  /// Reads a screen; nil where it shows no choices.
  ///
  /// They stand below each other, with `❯` in front of one, and below them what Escape does. With
  /// numbers there may be more lines to each.
  init?(screen: String) {
    let lines = screen.split(separator: "\n", omittingEmptySubsequences: false).map(Array.init)
    // Behind the mark of its prompt is a blank that does not break.
    func isBlank(_ character: Character) -> Bool { character == " " || character == "\u{a0}" }
    func start(of line: [Character]) -> Int? { line.firstIndex { !isBlank($0) } }
    guard
      let row = lines.lastIndex(where: { line in
        start(of: line).map { line[$0] == "❯" && !line[($0 + 1)...].allSatisfy(isBlank) } ?? false
      }), let mark = start(of: lines[row]),
      let column = lines[row][(mark + 1)...].firstIndex(where: { !isBlank($0) })
    else { return nil }
    func choice(_ row: Int) -> (number: Int?, label: String)? {
      guard lines.indices.contains(row), lines[row].count > column,
        let first = start(of: lines[row]),
        first == column || first == mark && lines[row][first] == "❯"
      else { return nil }
      let text = lines[row][column...]
      let digits = text.prefix { ("0"..."9").contains($0) }
      let rest = text.dropFirst(digits.count)
      guard !digits.isEmpty, rest.starts(with: [".", " "]) else { return (nil, Self.label(text)) }
      return (Int(String(digits)), Self.label(rest.dropFirst(2)))
    }
    guard let chosen = choice(row) else { return nil }
    var found = [chosen]
    cursor = 0
    for step in [-1, 1] {
      var next = row + step
      while lines.indices.contains(next) {
        let last = step < 0 ? found[0] : found[found.count - 1]
        let other = choice(next)
        if let other, other.number == last.number.map({ $0 + step }) {
          found.insert(other, at: step < 0 ? 0 : found.count)
          cursor += step < 0 ? 1 : 0
        } else if last.number == nil {
          break
        }
        next += step
      }
    }
    // What the person said stands behind the same mark.
    let isDialog = lines[row...].contains { String($0).holds("Esc to ") }
    guard found.count > 1, isDialog else { return nil }
    (labels, numbers) = (found.map(\.label), found.map(\.number))
    let above = lines[..<row].lastIndex { line in
      line.count > 20 && line.allSatisfy { "─▔".contains($0) }
    }
    text = lines[(above ?? 0)...].map { String($0) }
  }

  private static func label(_ text: ArraySlice<Character>) -> String {
    var text = text
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  /// Which choice somebody means: by its number, its label, or the only one that begins so. Letters
  /// count as small ones.
  func index(of word: String) -> Int? {
    let word = word.lowercased()
    if let number = Int(word), let index = numbers.firstIndex(of: number) { return index }
    let names = labels.map { $0.lowercased() }
    if let index = names.firstIndex(of: word) { return index }
    let found = names.indices.filter { names[$0].hasPrefix(word) }
    return found.count == 1 ? found[0] : nil
  }
}

extension RemoteTmux {
  /// Chooses what a session's agent offers, by its label: the cursor is moved there, and Return
  /// pressed where the screen is the one on which it was seen to stand.
  ///
  /// - Parameter word: as `Dialog.index` has it.
  /// - Throws: `HostFailure.noChoice` where the agent asks nothing, or offers no such thing; nothing
  ///   was chosen then.
  public func choose(_ word: String, in name: String) throws(HostFailure) {
    let (pane, state) = try session(name).agent()
    guard state.kind == .waiting else { throw .noChoice(name, why: "its agent asks nothing") }
    // What it says it asks it has still to draw, and in its first moments a dialog takes no key.
    var seen: Dialog?
    for attempt in 1...20 {
      let (sum, text) = try screen(of: pane, in: name)
      guard let dialog = Dialog(screen: text) else {
        guard attempt < 10 else { throw .noChoice(name, why: "its agent shows no choices") }
        usleep(100_000)
        continue
      }
      let isSettled = seen == dialog
      seen = dialog
      guard let index = dialog.index(of: word) else {
        let labels = dialog.labels.map { String($0.prefix(60)) }.joined(separator: "; ")
        throw .noChoice(name, why: "its agent offers no \(word.prefix(60)): \(labels)")
      }
      guard isSettled else {
        usleep(UInt32(Self.settling * 1e6))
        continue
      }
      let way = index - dialog.cursor
      if way == 0 {
        guard try press("Enter", in: pane, of: name, seeing: sum) else { continue }
        // Once: what stands there next may be another question.
        for _ in 0..<30 {
          if try sessions().first(where: { $0.name == name })?.state != state { return }
          if Dialog(screen: try screen(of: pane, in: name).text) != dialog { return }
          usleep(100_000)
        }
        break
      } else {
        let keys = repeatElement(way < 0 ? "Up" : "Down", count: abs(way))
        _ = try press(keys.joined(separator: " "), in: pane, of: name, seeing: sum)
        seen = nil
      }
    }
    throw .noChoice(name, why: "its agent takes no answer")
  }

  /// How long a dialog must have stood as it is before a key is pressed, seconds.
  private static let settling = 0.4

  private func screen(
    of pane: String, in name: String
  ) throws(HostFailure) -> (sum: String, text: String) {
    let lines = try call(TmuxScript.screen, [pane], session: name).output
    let end = lines.firstIndex(of: 10) ?? lines.endIndex
    return (
      String(decoding: lines[..<end], as: UTF8.self), String(decoding: lines[end...], as: UTF8.self)
    )
  }

  private func press(
    _ keys: String, in pane: String, of name: String, seeing sum: String
  ) throws(HostFailure) -> Bool {
    try call(TmuxScript.press, [pane, sum, keys], session: name).text != "OTHER"
  }
}

extension TmuxScript {
  private static let seen =
    opening + """
      seen() {
        say=$(x capture-pane -p -t "$1" 2>&1) || fail "$say"
        sum=$(printf '%s\\n' "$say" | cksum)
      }

      """

  /// The sum of what the pane shows, and that.
  static let screen =
    seen + """
      seen "$1"
      printf '%s\\n%s\\n' "$sum" "$say"
      """

  /// `$2` is the sum of the screen on which `$3`, keys, are to be pressed; time is given to draw what
  /// comes of them.
  static let press =
    seen + """
      seen "$1"
      if [ "$sum" != "$2" ]; then
        echo OTHER
        exit 0
      fi
      t if-shell -F -t "$1" '#{pane_in_mode}' 'copy-mode -q'
      say=$(x send-keys -t "$1" $3 2>&1) || fail "$say"
      i=0
      while [ "$sum" = "$2" ] && [ "$i" -lt 25 ]; do
        sleep 0.02 || i=24
        seen "$1"
        i=$((i + 1))
      done
      """
}
