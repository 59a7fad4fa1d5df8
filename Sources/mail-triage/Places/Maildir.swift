import CLibc
import Core

/// A folder of mails, one a file, in `new` and `cur`.
final class Maildir {
  let path: String
  /// The names, without their flags, of those that were handed out and are still there: a
  /// mail reader gives them others, and moves them.
  private var known: Set<String> = []

  /// Nil for a folder without these two.
  init?(_ path: String) {
    self.path = path
    for name in ["new", "cur"] {
      guard stat(following: Folders.join(path, name))?.isFolder == true else { return nil }
    }
  }

  /// The paths of what was not seen by anybody and not handed out before, the oldest first.
  func unseen() throws(Failure) -> [String] {
    var found: [(name: String, path: String)] = []
    var present: Set<String> = []
    // What is moved from one to the other meanwhile is found in the second at least.
    for folder in ["new", "cur"] {
      let place = Folders.join(path, folder)
      for name in try Self.names(place) {
        let (base, flags) = Self.split(name)
        present.insert(base)
        if folder == "cur", flags.contains("S") || flags.contains("T") { continue }
        if known.insert(base).inserted { found.append((base, Folders.join(place, name))) }
      }
    }
    known.formIntersection(present)
    return found.sorted { Self.order($0.name, $1.name) }.map(\.path)
  }

  /// A file that was moved before it could be opened may be found under another name.
  func giveBack(_ path: String) {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    known.remove(Self.split(name).base)
  }

  var watched: [String] { ["new", "cur"].map { Folders.join(path, $0) } }

  private static func names(_ folder: String) throws(Failure) -> [String] {
    guard let stream = opendir(folder) else { throw Failure(code: systemError) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        FileName.text(Array(bytes.prefix { $0 != 0 }))
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  /// A name, and the flags behind its `:2,`; some systems have a `;` or a `!` there.
  static func split(_ name: String) -> (base: String, flags: Substring) {
    guard let mark = name.lastIndex(where: { $0 == ":" || $0 == ";" || $0 == "!" }),
      name[name.index(after: mark)...].hasPrefix("2,")
    else { return (name, "") }
    return (String(name[..<mark]), name[mark...].dropFirst(3))
  }

  /// Names begin with the time, in seconds.
  private static func order(_ one: String, _ other: String) -> Bool {
    func time(_ name: String) -> UInt64 {
      UInt64(name.prefix(18).prefix { $0.isASCII && $0.isNumber }) ?? 0
    }
    let (first, second) = (time(one), time(other))
    return first == second ? one < other : first < second
  }
}
