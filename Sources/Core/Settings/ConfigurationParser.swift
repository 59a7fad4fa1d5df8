import CInih
import CLibc

/// What a line of the configuration file is.
public enum ConfigurationLine: Equatable, Sendable {
  /// `[profile NAME]`; nothing of one that cannot be understood.
  case heading(kind: String, name: String)
  /// Also one with a colon, which counts for nothing.
  case setting(key: String, value: String)
  /// A comment, a blank line, or nothing that anybody reads.
  case other

  /// - Parameter line: without its end; the first of the file without a byte order mark.
  public init(_ line: ArraySlice<UInt8>) { self = ConfigurationParser.line(line) }
}

/// Reads the configuration file's text with inih.
///
/// inih cuts lines, section names and keys that are too long for its buffers,
/// keeps the section before a broken heading, takes an indented line for the
/// continuation of a value, ends a value at ` ;`, and tells only the first
/// faulty line. So the lines go through here one by one: what it would
/// misread is reported and withheld, and every line it rejects is counted.
struct ConfigurationParser {
  /// What inih holds of a section's name (MAX_SECTION without its NUL).
  private static let longestSection = 49
  /// The name of the section that stands for one that is not understood.
  private static let ignoredSection = "?"
  /// Takes the place of a semicolon on the way through inih.
  private static let semicolon: UInt8 = 1

  private var lines: ArraySlice<ArraySlice<UInt8>>
  private var number = 0
  private var pending = false
  private var section = Section.top
  private var configuration: Configuration

  private enum Section: Equatable {
    case top
    case profile(String)
    case host(String)
    case bus(String)
    case ignored
  }

  /// Adds what the text says to a configuration.
  static func read(_ bytes: [UInt8], into configuration: inout Configuration) {
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    let text = bytes.starts(with: mark) ? bytes[3...] : bytes[...]
    let lines = text.split(separator: 10, omittingEmptySubsequences: false)
    var parser = ConfigurationParser(lines: lines[...], configuration: configuration)
    withUnsafeMutablePointer(to: &parser) { state in
      _ = ini_parse_stream(
        { buffer, size, state in
          guard let buffer, let state else { return nil }
          return state.assumingMemoryBound(to: ConfigurationParser.self).pointee
            .hand(to: buffer, size: Int(size))
        }, state,
        { state, _, name, value in
          guard let state, let name, let value else { return 1 }
          state.assumingMemoryBound(to: ConfigurationParser.self).pointee
            .take(name: String(cString: name), value: String(cString: value))
          return 1
        }, state)
    }
    parser.settle()
    configuration = parser.configuration
  }

  private init(lines: ArraySlice<ArraySlice<UInt8>>, configuration: Configuration) {
    self.lines = lines
    self.configuration = configuration
  }

  /// inih's fgets: the next line, or nil at the end.
  private mutating func hand(
    to buffer: UnsafeMutablePointer<CChar>, size: Int
  ) -> UnsafeMutablePointer<CChar>? {
    settle()
    guard let line = lines.popFirst(), size > 2 else { return nil }
    number += 1
    var bytes = prepare(line, room: size - 2)
    bytes += [10, 0]
    bytes.withUnsafeBytes { source in
      if let base = source.baseAddress { memcpy(buffer, base, source.count) }
    }
    return buffer
  }

  /// A line as inih is to see it: blank when it has nothing to say.
  private mutating func prepare(_ line: ArraySlice<UInt8>, room: Int) -> [UInt8] {
    let text = Self.trim(line)
    guard let first = text.first, first != 0x23, first != 0x3b else { return [] }
    if text.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7f }) {
      return refuse("control character in the line", text)
    }
    if String(validating: text, as: UTF8.self) == nil { return refuse("not UTF-8", text) }
    if text.count > room { return refuse("longer than \(room) bytes", text) }
    if first == 0x5b { return heading(text) }
    // inih takes either; agentutils.conf(5) knows one, and so do those who write the file.
    if text.first(where: { $0 == 0x3d || $0 == 0x3a }) == 0x3a {
      return refuse("a : in place of the = behind a key", text)
    }
    pending = true
    return text.map { $0 == 0x3b ? Self.semicolon : $0 }
  }

  private mutating func heading(_ text: ArraySlice<UInt8>) -> [UInt8] {
    let name: ArraySlice<UInt8>
    do throws(Failure) { name = try Self.heading(text) } catch { return refuse(error.reason, text) }
    open(String(decoding: name, as: UTF8.self))
    return [0x5b] + name.map { $0 == 0x3b ? Self.semicolon : $0 } + [0x5d]
  }

  /// What stands between the brackets of a line that begins with one.
  private static func heading(_ text: ArraySlice<UInt8>) throws(Failure) -> ArraySlice<UInt8> {
    guard let end = text.firstIndex(of: 0x5d) else { throw Failure("heading without ]") }
    let rest = trim(text[(end + 1)...])
    guard rest.isEmpty || rest.first == 0x23 || rest.first == 0x3b else {
      throw Failure("text after the heading")
    }
    let name = text[(text.startIndex + 1)..<end]
    guard name.count <= longestSection else {
      throw Failure("heading longer than \(longestSection) bytes")
    }
    return name
  }

  /// What a line of the file is taken for, by whoever changes the file.
  static func line(_ line: ArraySlice<UInt8>) -> ConfigurationLine {
    let text = trim(line)
    guard let first = text.first, first != 0x23, first != 0x3b else { return .other }
    if first == 0x5b {
      let isWhole = text.count <= Int(INI_MAX_LINE) - 2
      guard isWhole, let name = try? heading(text) else { return .heading(kind: "", name: "") }
      let (kind, rest) = words(of: String(decoding: name, as: UTF8.self))
      return .heading(kind: kind, name: rest)
    }
    guard let mark = text.firstIndex(where: { $0 == 0x3d || $0 == 0x3a }) else { return .other }
    return .setting(
      key: String(decoding: trim(text[..<mark]), as: UTF8.self),
      value: String(decoding: trim(text[(mark + 1)...]), as: UTF8.self))
  }

  private static func words(of heading: String) -> (kind: String, name: String) {
    let words = heading.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
    return (words.first.map(String.init) ?? "", words.count > 1 ? trim(String(words[1])) : "")
  }

  /// Reports a line and withholds it. After a bad heading the keys that follow
  /// must not fall to the section before it.
  private mutating func refuse(_ reason: String, _ text: ArraySlice<UInt8>) -> [UInt8] {
    guard text.first == 0x5b else {
      fault(reason, damaging: true)
      return []
    }
    ignore(reason)
    return Array("[\(Self.ignoredSection)]".utf8)
  }

  /// Begins a section.
  private mutating func open(_ heading: String) {
    let (kind, name) = Self.words(of: heading)
    switch kind {
    case "profile" where !name.isEmpty:
      section = .profile(name)
      if configuration.profiles[name] == nil { configuration.profiles[name] = .init() }
    case "host" where !name.isEmpty:
      section = .host(name)
      if configuration.hosts[name] == nil { configuration.hosts[name] = .init() }
    case "bus" where !name.isEmpty:
      section = .bus(name)
      if configuration.buses[name] == nil { configuration.buses[name] = .init() }
    case "profile", "host", "bus": ignore("heading without a name")
    default:
      fault("unknown section [\(heading)]", damaging: false)
      section = .ignored
    }
  }

  /// Reports a heading that may have meant any section; its keys are dropped.
  private mutating func ignore(_ reason: String) {
    section = .top
    fault(reason, damaging: true)
    section = .ignored
  }

  /// inih's handler: one `name = value`.
  private mutating func take(name: String, value: String) {
    pending = false
    let name = name.exchanging("\u{1}", for: ";")
    let value = value.exchanging("\u{1}", for: ";")
    if section == .ignored { return }
    if value.isEmpty || name.isEmpty {
      fault(name.isEmpty ? "value without a key" : "\(name) has no value", damaging: true)
      return
    }
    if !name.hasSuffix("-command"), Self.holdsComment(value) {
      fault(
        "a comment behind the value of \(name): comments stand on lines of their own",
        damaging: true)
      return
    }
    var known = false
    switch section {
    case .top where name == "profile":
      configuration.defaultProfile = value
      known = true
    case .top where name == "host":
      configuration.defaultHost = value
      known = true
    case .profile(let profile) where name == "kind":
      known = true
      if let kind = AgentKind(rawValue: value) {
        configuration.profiles[profile]?.statedKind = kind
      } else {
        fault("unknown kind \(value): \(AgentKind.list)", damaging: true)
      }
    case .profile(let profile):
      known = configuration.profiles[profile]?.set(name, value) ?? false
    case .host(let host) where name == "port":
      known = true
      if value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(value),
        (1...65535).contains(port)
      {
        configuration.hosts[host]?.port = port
      } else {
        fault("port is not a number from 1 to 65535", damaging: true)
      }
    case .host(let host):
      known = configuration.hosts[host]?.set(name, value) ?? false
    case .bus(let bus):
      known = configuration.buses[bus]?.set(name, value) ?? false
    case .top, .ignored: break
    }
    if !known { fault("unknown key \(name)", damaging: false) }
  }

  /// Whether a value has what looks like a comment: a `#` between blanks, or at the end.
  private static func holdsComment(_ value: String) -> Bool {
    let bytes = [UInt8](value.utf8) + [0x20]
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 9 }
    return bytes.indices.dropFirst().dropLast().contains { index in
      bytes[index] == 0x23 && isBlank(bytes[index - 1]) && isBlank(bytes[index + 1])
    }
  }

  /// Reports the line before when inih had nothing to make of it.
  private mutating func settle() {
    guard pending else { return }
    pending = false
    if section != .ignored { fault("not of the form key = value", damaging: true) }
  }

  /// Notes a fault of the current line; a damaging one is held against its
  /// section, which then cannot be trusted to say what its writer meant.
  private mutating func fault(_ reason: String, damaging: Bool) {
    let fault = Configuration.Fault(line: number, reason: reason)
    configuration.faults.append(fault)
    guard damaging else { return }
    switch section {
    case .top where configuration.defaultFault == nil: configuration.defaultFault = fault
    case .profile(let name) where configuration.profiles[name]?.fault == nil:
      configuration.profiles[name]?.fault = fault
    case .host(let name) where configuration.hosts[name]?.fault == nil:
      configuration.hosts[name]?.fault = fault
    case .bus(let name) where configuration.buses[name]?.fault == nil:
      configuration.buses[name]?.fault = fault
    default: break
    }
  }

  private static func trim(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 9 || byte == 13 }
    var line = line.drop(while: isBlank)
    while let last = line.last, isBlank(last) { line.removeLast() }
    return line
  }

  private static func trim(_ text: String) -> String {
    String(decoding: trim(Array(text.utf8)[...]), as: UTF8.self)
  }
}
