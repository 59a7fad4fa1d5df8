import Core
import Screen

/// The records of items on standard output.
final class ItemOutput {
  private let rows: RowOutput

  /// - Parameter options: the form, the colour, whether there is any.
  init(_ options: InboxOptions) {
    rows = RowOutput(form: options.form, look: options.look, isQuiet: options.quiet)
  }

  /// Writes items; a table grows by them.
  func write(_ items: [InboxItem]) throws(WriteFailure) {
    try rows.list(items.map(\.record), Self.listing)
  }

  /// Writes everything that waits.
  func flush() throws(WriteFailure) { try rows.flush() }

  private static let listing = Listing(
    columns: [
      .text("ID", "id"),
      .own("STATE") { row in
        let state = row["state"]?.string ?? ""
        return Line.Span(Plain.line(state), style(of: state))
      },
      .right("SIZE") { Line.Span(Amount.bytes(Int($0["size"]?.integer ?? 0))) },
      .time("TIME", "time"),
      .text("SESSION", "session"),
      .text("REMOTE", "remote_path", gives: true),
      .text("REASON", "reason", gives: true),
    ],
    fields: ["id", "state", "size", "time", "session", "remote_path", "reason", "path"])

  private static func style(of state: String) -> Style {
    switch InboxItem.State(rawValue: state) {
    case .failed: Style(Palette.error)
    case .delivered: Style(Palette.positive)
    default: Style()
    }
  }
}
