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
    case profile(String)
    case host(String)
    case bus(String)
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
    let text = Self.trim(line)
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
      readHeading(text)
    } else if let sign, text[sign] == 0x3d {
      set(Self.string(text[..<sign]), to: Self.string(text[(sign + 1)...]))
    } else if sign != nil {
      // agentutils.conf(5) knows one, and so do those who write the file.
      refuse("a : in place of the = behind a key", false)
    } else if section != .ignored {
      refuse("not of the form key = value", false)
    }
  }

  private mutating func readHeading(_ text: ArraySlice<UInt8>) {
    let name: ArraySlice<UInt8>
    do throws(Failure) { name = try Self.heading(text) } catch { return ignore(error.reason) }
    open(String(decoding: name, as: UTF8.self))
  }

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

  static func line(_ line: ArraySlice<UInt8>) -> ConfigurationLine {
    let text = trim(line)
    guard let first = text.first, first != 0x23, first != 0x3b else { return .other }
    if first == 0x5b {
      let isWhole = text.count <= longestLine
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
    if !take(name, value) {
      fault("unknown key \(name)" + home(of: name, value), damaging: false)
    }
  }

  /// False for a key that the section does not have.
  private mutating func take(_ name: String, _ value: String) -> Bool {
    switch section {
    case .top where name == "profile": configuration.defaultProfile = value
    case .top where name == "host": configuration.defaultHost = value
    case .top where name == "prices": configuration.prices = value
    case .top, .ignored: return false
    case .profile(let profile) where name == "kind":
      if let kind = KindFacts.named(value) {
        configuration.profiles[profile]?.statedKind = kind
      } else {
        fault("unknown kind \(value): \(KindFacts.list())", damaging: true)
      }
    case .profile(let profile) where name == "tls-fingerprint":
      configuration.profiles[profile]?.fingerprint = CertificateFingerprint(value)
      if configuration.profiles[profile]?.fingerprint == nil {
        fault("tls-fingerprint is not sha256: and 64 hexadecimal digits", damaging: true)
      }
    case .profile(let profile):
      guard let sort = AgentPlace.Sort(rawValue: name) else {
        return configuration.profiles[profile]?.set(name, value) ?? false
      }
      let place = AgentPlace(sort, value)
      if let old = configuration.profiles[profile]?.place?.sort, old != place.sort {
        fault("a second place: the profile has a \(old.rawValue)", damaging: true)
      } else {
        configuration.profiles[profile]?.place = place
      }
    case .host(let host) where name == "port":
      if value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(value),
        (1...65535).contains(port)
      {
        configuration.hosts[host]?.port = port
      } else {
        fault("port is not a number from 1 to 65535", damaging: true)
      }
    case .host(let host): return configuration.hosts[host]?.set(name, value) ?? false
    case .bus(let bus): return configuration.buses[bus]?.set(name, value) ?? false
    }
    return true
  }

  /// Where a key belongs that stands elsewhere.
  private func home(of name: String, _ value: String) -> String {
    var (profile, host, bus) = (
      Configuration.ProfileSection(), Configuration.HostSection(), Configuration.BusSection()
    )
    var homes: [String] = []
    if ["kind", "tls-fingerprint"].contains(name) || AgentPlace.Sort(rawValue: name) != nil
      || profile.set(name, value)
    {
      homes.append("under [profile NAME]")
    }
    if name == "port" || host.set(name, value) { homes.append("under [host NAME]") }
    if bus.set(name, value) { homes.append("under [bus NAME]") }
    if ["profile", "host"].contains(name) { homes.append("in front of all sections") }
    return homes.isEmpty ? "" : ": it belongs " + homes.joined(separator: " or ")
  }

  /// Whether a value has what looks like a comment: a `#` between blanks, or at the end.
  private static func holdsComment(_ value: String) -> Bool {
    let bytes = [UInt8](value.utf8) + [0x20]
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 9 }
    return bytes.indices.dropFirst().dropLast().contains { index in
      bytes[index] == 0x23 && isBlank(bytes[index - 1]) && isBlank(bytes[index + 1])
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
    line.trimming { $0 == 0x20 || $0 == 9 || $0 == 13 }
  }

  private static func string(_ text: ArraySlice<UInt8>) -> String {
    String(decoding: trim(text), as: UTF8.self)
  }
}
