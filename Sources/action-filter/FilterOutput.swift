import Core
import Records

/// Takes the selected actions: passes each once if it is to, counts them, and
/// writes what is asked for.
struct FilterOutput {
  private let options: FilterOptions
  private let writer = RecordWriter()
  private let scratch = ScanScratch()
  private var window = ActionWindow()
  private var tally: Tally?
  /// How many actions were selected.
  private(set) var count = 0

  /// - Parameter options: what is asked for.
  init(_ options: FilterOptions) {
    self.options = options
    if case .groups(let grouping) = options.output { tally = Tally(grouping) }
  }

  /// Whether nothing that follows can change the answer.
  var isDone: Bool { count >= options.maxCount }

  /// Whether what is done with an action asks for its members.
  var needsFields: Bool { options.isUnique || options.output.usesMembers }

  /// Takes an action that is what is looked for.
  ///
  /// - Parameters:
  ///   - fields: its members, if it needs them.
  ///   - source: where it came from.
  ///   - bytes: what stands for it in the output.
  ///   - action: its object.
  ///   - profile: whose it is; absent where that is not said.
  ///   - isRow: whether it comes out of a list, so that `bytes` do not name the profile.
  @inline(__always)
  mutating func take(
    _ fields: ActionFields, _ source: ActionWindow.Source, _ bytes: UnsafeRawBufferPointer,
    _ action: ScanValue, _ profile: ScanValue, isRow: Bool = false
  ) throws(WriteFailure) {
    if options.isUnique && !window.isNew(fields, source, profile: profile, scratch) { return }
    count += 1
    switch options.output {
    case .original where isRow && !profile.isAbsent:
      try CanonicalRow.write(named: profile, action, to: writer)
    case .original: try writer.writeLine(bytes)
    case .fields(let projection): try projection.write(fields, action, profile, to: writer)
    case .canonical: try CanonicalRow.write(fields, action, profile, to: writer)
    case .groups: tally?.add(fields, profile, scratch)
    case .count, .nothing: break
    }
  }

  /// Takes a record that is no action.
  func passOther(_ line: UnsafeRawBufferPointer) throws(WriteFailure) {
    if options.passesOthers && options.printsRecords { try writer.writeLine(line) }
  }

  /// Writes what is complete.
  func flush() throws(WriteFailure) { try writer.flush() }

  /// Writes the counts that were asked for, and all the rest.
  func finish() throws(WriteFailure) {
    if options.output == .count { try writer.write("\(count)\n") }
    for record in tally?.records ?? [] {
      try writer.write(record)
      try writer.newline()
    }
    try writer.flush()
  }
}
