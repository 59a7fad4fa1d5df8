import Archive
import CLibc
import Core
import Turns

/// The transcripts and the turns among what is read: what they cost becomes actions when all is
/// read.
struct TranscriptInput {
  private let options: FilterOptions
  private var costs: ClaudeCosts?
  private var turns = TurnCosts()
  /// Whether the file that is read has any.
  private var hasTurns = false

  static let ending = ".jsonl"
  /// A folder in a folder, and so on: a link may lead back.
  private static let deepest = 16
  private static let mostLooked = 1 << 16

  init(_ options: FilterOptions) { self.options = options }

  /// The transcripts in a folder and below it, by their names, and what cannot be looked at; nil
  /// where it has none, or is an archive.
  ///
  /// - Parameter since: those that nothing was written to since an hour before are left out.
  static func entries(in folder: String, since: Timestamp?) -> [InputList.Entry]? {
    var hasSome = false
    var found: [InputList.Entry] = []
    func look(in names: [String], of folder: String, depth: Int) {
      for name in names.sorted() where !name.hasPrefix(".") {
        let path = Folders.join(folder, name)
        guard let status = stat(following: path) else { continue }
        if status.isFolder, depth < deepest {
          do throws(Failure) {
            look(in: try FolderFile.names(in: path), of: path, depth: depth + 1)
          } catch {
            found.append(.fault(path: path, reason: error.reason))
          }
        } else if status.isRegular, name.hasSuffix(ending) {
          hasSome = true
          let written = FileVersion(status).modified / 1_000_000_000
          if let since, written < since.seconds - 3600 { continue }
          found.append(.file(path: path))
        }
      }
    }
    guard let names = try? FolderFile.names(in: folder),
      !names.contains(where: { ArchiveFolder.holds($0) })
    else { return nil }
    look(in: names, of: folder, depth: 0)
    return hasSome ? found : nil
  }

  /// Whether a file is a transcript: it is called one, or begins as one.
  static func isTranscript(_ path: String) -> Bool {
    guard let status = stat(following: path), status.isRegular else { return false }
    if path.hasSuffix(ending) { return true }
    let file = clibc_open(path, O_RDONLY)
    guard file >= 0 else { return false }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: mostLooked)
    let count = pread(file, &bytes, bytes.count, 0)
    guard count > 0 else { return false }
    return bytes.withUnsafeBytes { bytes in
      bytes.prefix(count).split(separator: 10).contains {
        let line = UnsafeRawBufferPointer(rebasing: $0)
        return ClaudeCosts.isLine(line) || TurnCosts.isLine(line)
      }
    }
  }

  /// What is wrong with the list of prices, without which nothing is worth reading.
  struct PricesFault: Error, CustomStringConvertible {
    let description: String
  }

  /// Begins with the lines of a file.
  mutating func begin(_ path: String) throws(PricesFault) {
    try prepare()
    hasTurns = false
    costs?.open(path)
  }

  /// Takes a line that is of a transcript.
  mutating func receive(_ line: UnsafeRawBufferPointer) throws(PricesFault) -> Bool {
    if TurnCosts.isLine(line) {
      hasTurns = true
      return turns.receive(line)
    }
    if costs == nil {
      guard ClaudeCosts.isLine(line) else { return false }
      try prepare()
    }
    return costs?.receive(line) ?? false
  }

  /// Ends it.
  ///
  /// - Returns: why it is no transcript at all; nil where it may be one.
  mutating func end() -> String? {
    costs?.close() == true && !hasTurns ? "no transcript: no line of it is JSON" : nil
  }

  private mutating func prepare() throws(PricesFault) {
    if costs != nil { return }
    do throws(Failure) {
      let named = options.prices
      let path = named == nil ? try Settings().prices : named
      costs = ClaudeCosts(try PriceList(path))
    } catch {
      throw PricesFault(description: error.message)
    }
  }

  /// Hands over what came of it.
  ///
  /// - Returns: what is to be said of it, a line each.
  mutating func finish(
    _ receive: (UnsafeRawBufferPointer) throws(WriteFailure) -> Void
  ) throws(WriteFailure) -> [String] {
    try turns.forEachAction(receive)
    guard var costs else { return [] }
    self.costs = nil
    try costs.forEachAction(receive)
    var notes = costs.notes(isWhole: options.predicate.indexed.since == nil)
    if options.isVerbose {
      for (path, count) in costs.badLines {
        notes.append("\(path): \(count) \(count == 1 ? "line is" : "lines are") no JSON")
      }
    }
    return notes
  }
}
