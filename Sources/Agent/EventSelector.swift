import CLibc
import Core

/// Which events are printed, by type.
struct EventSelector {
  private let globs: [String]

  /// - Parameter globs: fnmatch(3) patterns, one of which must match; none for all.
  init(_ globs: [String]) { self.globs = globs }

  /// Whether events of this type are printed.
  ///
  /// - Parameter type: the event type, empty for `message`.
  func matches(_ type: UnsafeRawBufferPointer) -> Bool {
    if globs.isEmpty { return true }
    let name = type.isEmpty ? "message" : String(decoding: type, as: UTF8.self)
    // fnmatch ends a name at NUL; no glob means to match beyond one.
    if name.utf8.contains(0) { return globs.contains("*") }
    return globs.contains { fnmatch($0, name, 0) == 0 }
  }
}
