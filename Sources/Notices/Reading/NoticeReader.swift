public import Core
import Records
import Turns

/// Reads lines, and routes what they tell.
public struct NoticeReader {
  /// What a line is.
  public enum Line {
    /// Notifications with where they go, oldest first; perhaps none.
    case routes([RoutedNotice])
    case bad(String)
    /// Whole records beside a part of one: what they tell, and what is wrong.
    case torn([RoutedNotice], String)
  }

  private let options: RouteOptions
  private let clock: () -> Timestamp
  private let context: ContextFile?
  private var sources: NoticeSources
  private var scan = RecordScan()

  /// - Parameters:
  ///   - clock: the time, for those that do not say it.
  ///   - diagnostics: told of a file of `--context` that makes no sense.
  public init(
    _ options: RouteOptions, diagnostics: Diagnostics,
    clock: @escaping () -> Timestamp = Timestamp.now
  ) {
    (self.options, self.clock) = (options, clock)
    context = options.context.map { ContextFile($0, diagnostics) }
    sources = NoticeSources(options)
  }

  /// Reads a line.
  public mutating func read(_ bytes: UnsafeRawBufferPointer) -> Line {
    let line: TurnLine
    do throws(ScanFault) {
      line = try TurnLine(bytes, &scan)
    } catch {
      if error == .empty { return .routes([]) }
      guard let torn = TornLine(bytes) else { return .bad(error.reason) }
      return read(torn)
    }
    do throws(Failure) {
      if line.shape == .own, line.type == RecordType.route.rawValue {
        guard UTF8Text.isValid(bytes) else { throw Failure("not UTF-8") }
        return .routes([RoutedNotice(decided: try Self.object(line), line: Array(bytes))])
      }
      if line.shape == .own && line.type == RecordType.notification.rawValue
        || line.shape == .unmarked
      {
        let object = try Self.object(line)
        guard line.shape == .own || Self.isInput(object) else { return .routes([]) }
        return .routes([try route(object)])
      }
    } catch {
      return .bad(error.reason)
    }
    do throws(RecordFields.Fault) {
      return .routes(try sources.read(line).map { route($0) })
    } catch {
      return .bad(error.reason)
    }
  }

  private mutating func read(_ torn: TornLine) -> Line {
    var routes: [RoutedNotice] = []
    var reason = torn.fault?.reason
    for record in torn.records {
      switch read(record) {
      case .routes(let found): routes += found
      case .bad(let why): reason = reason ?? why
      case .torn: break
      }
    }
    return reason.map { .torn(routes, $0) } ?? .routes(routes)
  }

  /// Where the person is now, as far as the options know.
  public func state() -> PersonState {
    var mods: [String] = []
    return Route.state(input(Notice()), &mods)
  }

  /// Routes a notification by the options alone.
  public func route(_ notice: Notice) -> RoutedNotice { RoutedNotice(notice, input(notice)) }

  private func input(_ notice: Notice) -> RouteInput {
    let report = context?.read()
    return RouteInput(
      urgency: notice.urgency, category: notice.category, now: LocalTime(clock()),
      lastInteraction: report?.lastInteraction, context: report?.context,
      preferences: options.preferences)
  }

  /// Routes a notification that may say itself what it is to be routed by.
  private func route(_ object: JSONValue) throws(Failure) -> RoutedNotice {
    let notice = Notice(object)
    var input = input(notice)
    if let now = object[either: "now"] {
      guard let time = now.string.flatMap({ LocalTime(rfc3339: $0) }) else {
        throw Failure("the member now is not a time of RFC 3339")
      }
      input.now = time
    }
    if let last = object["lastInteractionAt"] {
      input.lastInteraction = last.string.flatMap { Timestamp(rfc3339: $0) }
      if !last.isNull, input.lastInteraction == nil {
        throw Failure("the member lastInteractionAt is not a time of RFC 3339")
      }
    }
    // Null says that nothing is known, which is more than a missing member says.
    if let context = object["context"] {
      input.context = context.isObject ? PersonContext(context) : nil
    }
    if let preferences = object[either: "prefs"] { input.preferences = .init(preferences) }
    return RoutedNotice(notice, input)
  }

  private static func isInput(_ object: JSONValue) -> Bool {
    object["urgency"] != nil || object["category"] != nil && object["kind"] == nil
  }

  private static func object(_ line: TurnLine) throws(Failure) -> JSONValue {
    return try JSONValue.parse(line.bytes)
  }

}

/// The file that says what a person's devices report. It is small, and read for each
/// notification: whatever writes it may replace it at any time.
final class ContextFile {
  private let file: StateFile
  private let diagnostics: Diagnostics
  private var lastFault: String?

  init(_ path: String, _ diagnostics: Diagnostics) {
    file = StateFile(path: path)
    self.diagnostics = diagnostics
  }

  /// What it says now; nil when it is missing or makes no sense, which is told once.
  func read() -> (context: PersonContext, lastInteraction: Timestamp?)? {
    do {
      guard let bytes = try file.read(limit: 1 << 16) else { return nil }
      let object = try JSONValue.parse(bytes)
      guard object.isObject else { throw Failure("not a JSON object") }
      lastFault = nil
      let last = object["lastInteractionAt"]?.string.flatMap { Timestamp(rfc3339: $0) }
      return (PersonContext(object), last)
    } catch {
      let message =
        (error as? any Reported)?.message
        ?? "\(FileName.shown(file.path)): \((error as? Failure)?.reason ?? "\(error)")"
      if message != lastFault { diagnostics.say(message) }
      lastFault = message
      return nil
    }
  }
}
