import Kinds

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

/// Reads the configuration file's text, line by line: what is not understood is reported, and
/// held against its section.
struct ConfigurationParser {
  /// The longest line, and the longest name between brackets, bytes.
  private static let (longestLine, longestSection) = (198, 49)

  private var number = 0
  private var section = Section.top
  private var configuration: Configuration

  private enum Section: Equatable {
    case top
    case named(WritableKeyPath<Configuration, any ConfigurationSection>)
    case ignored
  }

  static func read(_ bytes: [UInt8], into configuration: inout Configuration) {
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    let text = bytes.starts(with: mark) ? bytes[3...] : bytes[...]
    var parser = ConfigurationParser(configuration: configuration)
    for line in text.split(separator: 10, omittingEmptySubsequences: false) { parser.read(line) }
    configuration = parser.configuration
  }

  private init(configuration: Configuration) { self.configuration = configuration }

  private mutating func read(_ line: ArraySlice<UInt8>) {
    number += 1
    let text = line.trimming(\.isBlank)
    guard let first = text.first, first != 0x23, first != 0x3b else { return }
    let isHeading = first == 0x5b
    let sign = text.firstIndex { $0 == 0x3d || $0 == 0x3a }
    if text.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7f }) {
      refuse("control character in the line", isHeading)
    } else if String(validating: text, as: UTF8.self) == nil {
      refuse("not UTF-8", isHeading)
    } else if text.count > Self.longestLine {
      refuse("longer than \(Self.longestLine) bytes", isHeading)
    } else if isHeading {
      do throws(Failure) { open(try Self.heading(text)) } catch { ignore(error.reason) }
    } else if let sign, text[sign] == 0x3d {
      set(Self.string(text[..<sign]), to: Self.string(text[(sign + 1)...]))
    } else if sign != nil {
      // agentutils.conf(5) knows one, and so do those who write the file.
      refuse("a : in place of the = behind a key", false)
    } else if section != .ignored {
      refuse("not of the form key = value", false)
    }
  }

  private static func heading(_ text: ArraySlice<UInt8>) throws(Failure) -> String {
    guard let end = text.firstIndex(of: 0x5d) else { throw Failure("heading without ]") }
    let rest = text[(end + 1)...].trimming(\.isBlank)
    guard rest.isEmpty || rest.first == 0x23 || rest.first == 0x3b else {
      throw Failure("text after the heading")
    }
    let name = text[(text.startIndex + 1)..<end]
    guard name.count <= longestSection else {
      throw Failure("heading longer than \(longestSection) bytes")
    }
    return String(decoding: name, as: UTF8.self)
  }

  static func line(_ line: ArraySlice<UInt8>) -> ConfigurationLine {
    let text = line.trimming(\.isBlank)
    guard let first = text.first, first != 0x23, first != 0x3b else { return .other }
    if first == 0x5b {
      let isWhole = text.count <= longestLine
      guard isWhole, let name = try? heading(text) else { return .heading(kind: "", name: "") }
      let (kind, rest) = words(of: name)
      return .heading(kind: kind, name: rest)
    }
    guard let mark = text.firstIndex(where: { $0 == 0x3d || $0 == 0x3a }) else { return .other }
    return .setting(key: string(text[..<mark]), value: string(text[(mark + 1)...]))
  }

  private static func words(of heading: String) -> (kind: String, name: String) {
    let words = heading.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
    return (
      words.first.map(String.init) ?? "", words.count > 1 ? string(Array(words[1].utf8)[...]) : ""
    )
  }

  /// After a bad heading the keys that follow must not fall to the section before it.
  private mutating func refuse(_ reason: String, _ isHeading: Bool) {
    if isHeading { ignore(reason) } else { fault(reason, damaging: true) }
  }

  private mutating func open(_ heading: String) {
    let (kind, name) = Self.words(of: heading)
    let sections: [String: WritableKeyPath<Configuration, any ConfigurationSection>] = [
      "profile": \.profiles[section: name], "host": \.hosts[section: name],
      "bus": \.buses[section: name],
    ]
    guard let found = sections[kind] else {
      fault("unknown section [\(heading)]", damaging: false)
      section = .ignored
      return
    }
    if name.isEmpty { return ignore("heading without a name") }
    section = .named(found)
    // It is there even where nothing stands in it.
    configuration[keyPath: found] = configuration[keyPath: found]
  }

  /// Reports a heading that may have meant any section; its keys are dropped.
  private mutating func ignore(_ reason: String) {
    section = .top
    fault(reason, damaging: true)
    section = .ignored
  }

  private mutating func set(_ name: String, to value: String) {
    if section == .ignored { return }
    if value.isEmpty || name.isEmpty {
      fault(name.isEmpty ? "value without a key" : "\(name) has no value", damaging: true)
      return
    }
    if !name.hasSuffix("command"), Self.holdsComment(value) {
      fault(
        "a comment behind the value of \(name): comments stand on lines of their own",
        damaging: true)
      return
    }
    do throws(Failure) {
      if try !take(name, value) {
        fault("unknown key \(name)" + home(of: name, value), damaging: false)
      }
    } catch {
      fault(error.reason, damaging: true)
    }
  }

  /// False for a key that the section does not have.
  private mutating func take(_ name: String, _ value: String) throws(Failure) -> Bool {
    switch section {
    case .top where name == "profile": configuration.defaultProfile = value
    case .top where name == "host": configuration.defaultHost = value
    case .top where name == "prices": configuration.prices = value
    case .top, .ignored: return false
    case .named(let section):
      var changed = configuration[keyPath: section]
      defer { configuration[keyPath: section] = changed }
      return try changed.set(name, value)
    }
    return true
  }

  /// Where a key belongs that stands elsewhere.
  private func home(of name: String, _ value: String) -> String {
    let sections: [(String, any ConfigurationSection)] = [
      ("profile", Configuration.ProfileSection()), ("host", Configuration.HostSection()),
      ("bus", Configuration.BusSection()),
    ]
    var homes = sections.filter { section in
      var empty = section.1
      return (try? empty.set(name, value)) ?? true
    }.map { "under [\($0.0) NAME]" }
    if ["profile", "host"].contains(name) { homes.append("in front of all sections") }
    return homes.isEmpty ? "" : ": it belongs " + homes.joined(separator: " or ")
  }

  /// Whether a value has what looks like a comment: a `#` between blanks, or at the end.
  private static func holdsComment(_ value: String) -> Bool {
    let bytes = [UInt8](value.utf8) + [0x20]
    return bytes.indices.dropFirst().dropLast().contains { index in
      bytes[index] == 0x23 && bytes[index - 1].isBlank && bytes[index + 1].isBlank
    }
  }

  /// Notes a fault of the current line; a damaging one is held against its
  /// section, which then cannot be trusted to say what its writer meant.
  private mutating func fault(_ reason: String, damaging: Bool) {
    let fault = Configuration.Fault(line: number, reason: reason)
    configuration.faults.append(fault)
    guard damaging else { return }
    switch section {
    case .top where configuration.defaultFault == nil: configuration.defaultFault = fault
    case .named(let section) where configuration[keyPath: section].fault == nil:
      configuration[keyPath: section].fault = fault
    default: break
    }
  }

  private static func string(_ text: ArraySlice<UInt8>) -> String {
    String(decoding: text.trimming(\.isBlank), as: UTF8.self)
  }
}

extension Dictionary where Key == String, Value: ConfigurationSection {
  fileprivate subscript(section name: String) -> any ConfigurationSection {
    get { self[name] ?? Value() }
    set { self[name] = newValue as? Value }
  }
}
