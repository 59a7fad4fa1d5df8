/// A name as people remember it: neither case counts, nor anything but letters and
/// digits, so that `repair cafe` is not `Repair Café 🔧`, but `repair-café` is.
public struct NameKey: Hashable, Sendable {
  private let text: String

  /// - Parameter name: of a person or a guild; one without any letter or digit is told by
  ///   all that is in it.
  public init(_ name: String) {
    // In upper case first: there `ß` is `SS`.
    let folded = name.uppercased().lowercased()
    let plain = folded.filter { Self.isKept($0) }
    text = plain.isEmpty ? folded : plain
  }

  /// The name as one word that shells leave alone and that is understood as the name:
  /// `Repair-Café`; empty for a name without letters and digits.
  public static func word(_ name: String) -> String {
    name.split { !isKept($0) }.joined(separator: "-")
  }

  /// Whether a text can only be an id: digits alone.
  public static func isID(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 &- 48 < 10 }
  }

  private static func isKept(_ character: Character) -> Bool {
    character.isLetter || character.isNumber
  }
}
