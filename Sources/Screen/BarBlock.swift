public import Core
import Records

/// A block of a status bar: one line of nothing but printable text, in the form that each bar
/// takes. What is given is text that is fit for one line already.
public enum BarBlock {
  /// An object of waybar-custom(5), of a module with `return-type` json: empty text hides it.
  ///
  /// - Parameters:
  ///   - alt: one word for how it stands.
  ///   - tooltip: may have several lines.
  public static func waybar(
    _ text: String, alt: String, tooltip: String, classes: [String]
  ) -> String {
    RecordText().string("text", markup(text)).string("alt", alt)
      .string("tooltip", markup(tooltip)).strings("class", classes).text
  }

  /// A block of the i3bar protocol, as i3blocks takes it with `format=json`.
  ///
  /// - Parameter colour: `#rrggbb`; nil for the bar's own.
  public static func i3(
    _ text: String, short: String, colour: String?, name: String
  ) -> String {
    RecordText().string("full_text", text).string("short_text", short).string("color", colour)
      .string("name", name).string("markup", "none").text
  }

  /// Words for `status-right` of tmux(1): a `#` of theirs would be a format.
  public static func tmux(_ text: String) -> String { text.exchanging("#", for: "##") }

  /// What stands there when nobody knows, as agent-status(1) has it: in a bar, or in a plain line.
  ///
  /// - Parameters:
  ///   - status: how a command would leave that nobody looks at.
  ///   - form: `waybar`, `tmux` or `i3`, else that of a line.
  ///   - name: of the block.
  public static func trouble(
    _ status: ExitStatus, _ reason: String, in form: String, of name: String
  ) -> String {
    let state =
      switch status {
      case .temporary: "unreachable"
      case .denied: "refused"
      default: "unknown"
      }
    let (text, colour) = ("○ \(state)", "#dc2626")
    let words = "\(text): \(Visible.line(reason))"
    return switch form {
    case "waybar": waybar(text, alt: state, tooltip: words, classes: [state])
    case "tmux": "#[fg=\(colour)]○#[default] \(state)"
    case "i3": i3(text, short: "○", colour: colour, name: name)
    default: words
    }
  }

  private static func markup(_ text: String) -> String {
    text.exchanging("&", for: "&amp;").exchanging("<", for: "&lt;").exchanging(">", for: "&gt;")
  }
}
