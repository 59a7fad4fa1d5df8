import Core

/// A session of the host's tmux server.
public struct TmuxSession: Equatable, Sendable {
  /// tmux's own id, `$3`: never used twice by one server.
  public var id: String
  /// Its name.
  public var name: String
  /// How many windows it has.
  public var windows: Int
  /// How many clients are attached.
  public var attached: Int
  /// When it was made.
  public var created: Timestamp
  /// When something last happened in it.
  public var activity: Timestamp
  /// Where the program of the current pane is: bytes, a path need not be text.
  public var directory: [UInt8]
  /// The program of the current pane.
  public var command: [UInt8]

  /// - Parameters: see the properties.
  public init(
    id: String, name: String, windows: Int, attached: Int, created: Timestamp,
    activity: Timestamp, directory: [UInt8], command: [UInt8]
  ) {
    self.id = id
    self.name = name
    self.windows = windows
    self.attached = attached
    self.created = created
    self.activity = activity
    self.directory = directory
    self.command = command
  }

  /// Whether it is the same session, with the same things to tell of it but for the
  /// time of its last activity.
  public func looks(like other: TmuxSession) -> Bool {
    var copy = other
    copy.activity = activity
    return self == copy
  }

  /// The members of its record, without braces, behind `type`:
  /// agentutils-records(5).
  public var members: String {
    func text(_ bytes: [UInt8]) -> String {
      JSONQuote.string(String(decoding: bytes, as: UTF8.self))
    }
    return #""name":\#(JSONQuote.string(name)),"windows":\#(windows),"attached":\#(attached),"#
      + #""created":"\#(created.rfc3339)","activity":"\#(activity.rfc3339)","#
      + #""directory":\#(text(directory)),"command":\#(text(command))"#
  }

  /// Its record, `type` `session`.
  public var record: [UInt8] { Array("{\"type\":\"session\",\(members)}".utf8) }
}
