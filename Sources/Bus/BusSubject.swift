import Core
import Records

/// What a record is published under, told from the record: `actions.GUILD.KIND`, `voice.GUILD`,
/// `records.TYPE` or `events.EVENT`.
///
/// What strangers write never makes a level or a wildcard of it: a token keeps letters and digits
/// of ASCII, `_` and `-`, and another byte becomes %XX.
public enum BusSubject {
  /// The longest token, bytes.
  static let longestToken = 64

  static func isPlain(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }

  /// Whether a text is the name of a stream or a consumer: letters and digits of ASCII, `-` and `_`,
  /// 64 at most.
  public static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 64 && text.utf8.allSatisfy(isPlain)
  }

  /// A text as one token; `-` for none.
  public static func token(_ text: String?) -> String {
    guard let text, !text.isEmpty else { return "-" }
    if text.utf8.count <= longestToken, text.utf8.allSatisfy(isPlain) { return text }
    let digits = Array("0123456789ABCDEF".utf8)
    var token: [UInt8] = []
    for byte in text.utf8 {
      let piece =
        isPlain(byte)
        ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      // No half of an escape.
      if token.count + piece.count > longestToken { break }
      token += piece
    }
    return String(decoding: token, as: UTF8.self)
  }

  static func of(_ scan: RecordScan, _ shape: RecordShape) -> String {
    switch shape {
    case .action: "actions.\(token(scan.fields.guild.string)).\(token(scan.fields.kind.string))"
    case .own: "records.\(token(scan.type.string))"
    case .event: "events.\(token(scan.event.string))"
    case .list: "events.\(event(scan, usual: "activity_snapshot"))"
    case .stats: "events.\(event(scan, usual: "stats_update"))"
    case .voiceState: "events.\(event(scan, usual: "voice_state"))"
    case .unmarked:
      switch session(scan.object) {
      case .some(let guild): "voice.\(token(guild.string))"
      case nil: "records.-"
      }
    }
  }

  private static func event(_ scan: RecordScan, usual: String) -> String {
    let name = scan.isWrapped || scan.event.isString ? scan.event.string : scan.type.string
    return token(name ?? usual)
  }

  private static func session(_ object: ScanValue) -> ScanValue? {
    do throws(ScanFault) {
      for mark in ["participants", "voiceChannelId", "conversation"]
      where !(try ScanMembers.value(of: mark, in: object.bytes)).isAbsent {
        return try ScanMembers.value(of: "guildId", in: object.bytes)
      }
      return nil
    } catch {
      return nil
    }
  }

  /// Why a text is not a subject that can be published to; nil where it is.
  public static func fault(of subject: String) -> String? {
    if let fault = fault(ofFilter: subject) { return fault }
    return subject.split(separator: ".").contains { $0 == "*" || $0 == ">" }
      ? "a wildcard" : nil
  }

  /// Why a text is not a subject that can be asked for, with or without wildcards; nil where it
  /// is.
  public static func fault(ofFilter subject: String) -> String? {
    guard subject.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), subject.utf8.count <= 255 else {
      return "not of 1 to 255 characters of ASCII without blanks"
    }
    let tokens = subject.split(separator: ".", omittingEmptySubsequences: false)
    if tokens.contains("") { return "an empty word between dots" }
    // The server's own.
    if subject.hasPrefix("$") { return "a subject of the server" }
    if tokens.dropLast().contains(">") { return "> is the last word" }
    let isMixed = { (token: Substring) in
      token.utf8.count > 1 && (token.holds("*") || token.holds(">"))
    }
    return tokens.contains(where: isMixed) ? "a wildcard is a word of its own" : nil
  }
}
