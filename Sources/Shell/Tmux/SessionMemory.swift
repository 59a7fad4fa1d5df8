import CLibc
public import Core
import Records

/// What this machine remembers of a host's sessions: those that are known, in the
/// order in which they came, and the one used last.
public struct SessionMemory: Equatable, Sendable {
  /// Names.
  public var known: [String] = []
  /// The session that was used last; nil for none yet.
  public var last: String?

  /// Nothing remembered.
  public init() {}

  /// Holds what is known against the host's list: what was forgotten is added behind the
  /// others, what is gone is dropped, but never the base.
  ///
  /// - Parameter base: the session that is never dropped.
  /// - Returns: what became of each, `added`, `dropped` or `kept`, in the order of the new list,
  ///   dropped ones where they stood.
  public mutating func reconcile(
    with names: [String], base: String
  ) -> [(kind: String, name: String)] {
    let there = Set(names)
    var changes = known.map { name in
      (kind: there.contains(name) || name == base ? "kept" : "dropped", name: name)
    }
    let old = Set(known)
    changes += names.filter { !old.contains($0) }.map { ("added", $0) }
    known = changes.filter { $0.kind != "dropped" }.map(\.name)
    if let last, !there.contains(last) { self.last = nil }
    return changes
  }

  /// A session was made or attached to.
  public mutating func used(_ name: String) {
    if !known.contains(name) { known.append(name) }
    last = name
  }

  /// A session was made, but nobody sat down at it yet.
  public mutating func made(_ name: String) {
    if !known.contains(name) { known.append(name) }
  }

  /// A session was closed.
  public mutating func closed(_ name: String) {
    known.removeAll { $0 == name }
    if last == name { last = nil }
  }

  /// The lowest free name: `riff-2`, `riff-3` and so on.
  public static func freeName(taken: Set<String>) -> String {
    var number = 2
    while taken.contains("\(SessionName.base)-\(number)") { number += 1 }
    return "\(SessionName.base)-\(number)"
  }
}

extension SessionMemory {
  /// The file for the sessions of a host, behind one label of tmux.
  public static func path(for request: LinkRequest) -> String {
    let target = request.destination
    var name = target.keyPlace.name
    if let user = target.user { name = user + "@" + name }
    return request.stateFolder + "/" + prefix + encoded(name + "+" + request.label)
  }

  /// What is remembered; nothing without a file, or when it cannot be understood.
  ///
  /// - Throws: `Failure` when the file cannot be read.
  public static func load(_ path: String) throws(Failure) -> SessionMemory {
    guard let bytes = try StateFile(path: path).read() else { return SessionMemory() }
    return SessionMemory(json: bytes) ?? SessionMemory()
  }

  /// Changes what is remembered; others who do so at the same time wait.
  ///
  /// - Throws: `Failure`; then nothing has changed.
  @discardableResult
  public static func update<Result>(
    _ path: String, _ body: (inout SessionMemory) -> Result
  ) throws(Failure) -> Result {
    try FileLock.hold(beside: path) { () throws(Failure) in
      let old = try load(path)
      var new = old
      let result = body(&new)
      if new != old { try StateFile(path: path).replace(with: Array(new.json.utf8)) }
      return result
    }
  }

  init?(json bytes: [UInt8]) {
    guard let value = JSONValue(bytes), let names = value["known"]?.elements else { return nil }
    known = names.compactMap(\.string)
    last = value["last"]?.string
  }

  var json: String {
    RecordText(.sessions).stringOrNull("last", last).strings("known", known).text + "\n"
  }

  /// The names of all sessions that are known, of any host.
  public static let names = Completion.live {
    let folder = Folders().state
    var names: Set<String> = []
    for name in (try? FolderFile.names(in: folder)) ?? [] where name.hasPrefix(prefix) {
      guard let memory = try? load(folder + "/" + name) else { continue }
      names.formUnion(memory.known)
    }
    return names.sorted()
  }

  private static let prefix = "sessions-"

  private static func encoded(_ text: String) -> String {
    var out = ""
    for byte in text.utf8.prefix(180) {
      if byte.isAlphanumeric || ".-_@+".utf8.contains(byte) {
        out.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        out += "%" + String(Int(byte) + 256, radix: 16).dropFirst()
      }
    }
    return out
  }
}
