import CLibc
import Core

/// A text that grows, as a terminal shows it: only what is new, escaped by the rules of
/// `VisibleScalars` as if the whole were shown at once; line feeds and tabs stay.
struct StreamedText {
  enum Piece: Equatable {
    /// Goes on where the last ended; may be empty.
    case more(String)
    /// What was shown is not so any more: the whole text.
    case replaced(String)
  }

  private var taken = ""
  private var shown = 0

  /// How far back is looked for what decides how the next scalar is shown.
  private static let context = 1000

  func isBeginning(of text: String) -> Bool { Self.commonBytes(taken, text) >= shown }

  /// Takes the whole text as it is now.
  mutating func receive(_ text: String, isWhole: Bool) -> Piece {
    let goesOn = isBeginning(of: text)
    taken = text
    if !goesOn { shown = 0 }
    let piece = next(isWhole: isWhole)
    return goesOn ? .more(piece) : .replaced(piece)
  }

  static func visible(_ text: String) -> String {
    var streamed = StreamedText()
    switch streamed.receive(text, isWhole: true) {
    case .more(let piece), .replaced(let piece): return piece
    }
  }

  private mutating func next(isWhole: Bool) -> String {
    let scalars = taken.unicodeScalars
    let start = taken.utf8.index(taken.startIndex, offsetBy: shown)
    var end = scalars.endIndex
    if !isWhole {
      // How these are shown, the scalar behind them decides.
      while end > start, Self.isOpen(scalars[scalars.index(before: end)]) {
        end = scalars.index(before: end)
      }
    }
    guard start < end else { return "" }
    var from = start
    var steps = 0
    while from > scalars.startIndex, steps < Self.context {
      from = scalars.index(before: from)
      steps += 1
      // Nothing in front of a plain letter or a line feed matters behind it.
      if scalars[from].isASCII { break }
    }
    shown = taken.utf8.distance(from: taken.startIndex, to: end)
    return Self.render(
      String(scalars[from..<end]), skipping: scalars.distance(from: from, to: start))
  }

  private static func render(_ text: String, skipping: Int) -> String {
    var out = ""
    var scalars = VisibleScalars(text)
    var number = 0
    var isReturn = false
    while let (scalar, isShown) = scalars.next() {
      number += 1
      if number <= skipping { continue }
      // A line end of two is one.
      if isReturn, scalar != "\n" { out += Visible.escape("\r") }
      isReturn = scalar == "\r"
      if isReturn { continue }
      if isShown || scalar == "\n" || scalar == "\t" {
        out.unicodeScalars.append(scalar)
      } else {
        out += Visible.escape(scalar)
      }
    }
    return isReturn ? out + Visible.escape("\r") : out
  }

  /// Joiners, selectors and a carriage return.
  private static func isOpen(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0d, 0x200c, 0x200d, 0x180b...0x180f, 0xfe00...0xfe0f, 0xe0100...0xe01ef: true
    default: false
    }
  }

  /// How many bytes two texts have in common at their beginning.
  private static func commonBytes(_ one: String, _ other: String) -> Int {
    let count = min(one.utf8.count, other.utf8.count)
    let isSame = one.utf8.withContiguousStorageIfAvailable { one in
      other.utf8.withContiguousStorageIfAvailable { other in
        guard let one = one.baseAddress, let other = other.baseAddress else { return true }
        return memcmp(one, other, count) == 0
      } ?? false
    }
    if isSame == true { return count }
    return zip(one.utf8, other.utf8).prefix { $0 == $1 }.count
  }
}
