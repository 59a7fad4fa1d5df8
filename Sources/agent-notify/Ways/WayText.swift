import Core
import Screen

/// The texts of a delivery, made safe for where each way puts them. What a terminal would
/// obey or a person could not see has become text in all of them.
enum WayText {
  static func title(_ delivery: Delivery) -> String { Plain.line(delivery.title) }

  private static let (mostLines, mostLine) = (12, 1000)

  static func body(_ delivery: Delivery) -> String {
    if delivery.body.isEmpty { return "" }
    let lines = Plain.lines(delivery.body)
    let shown = lines.count > mostLines ? lines.prefix(mostLines - 1) + ["…"] : lines[...]
    return shown.map { NtfyMessage.cut($0, mostLine) }.joined(separator: "\n")
  }

  /// Whether all of the text is in `body`.
  static func isWhole(_ delivery: Delivery) -> Bool {
    let lines = Plain.lines(delivery.body)
    return !delivery.body.isEmpty && lines.count <= mostLines
      && lines.allSatisfy { $0.utf8.count <= mostLine }
  }

  static func line(_ delivery: Delivery) -> String {
    let body = Plain.line(delivery.body, limit: 1000)
    return title(delivery) + (body.isEmpty ? "" : ": " + body)
  }

  /// Desktop text may have markup and, to notify-send(1), escapes as in C.
  static func markup(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\\": out += "\\\\"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }

  /// A line for tmux(1), which expands `#` and, as strftime(3) does, `%`; and a word that
  /// ends in `;` ends a command.
  static func tmux(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      if scalar == "#" || scalar == "%" { out.unicodeScalars.append(scalar) }
      out.unicodeScalars.append(scalar)
    }
    return out.hasSuffix(";") ? out.dropLast() + "\\;" : out
  }
}
