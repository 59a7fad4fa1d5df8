public import Core

/// What the records of one frame are, or those of a whole file: enough to tell that none of
/// them is looked for.
///
/// The sets hold values as they stand in the records, so that they are compared as those are.
/// They point into the index and are valid as long as that is.
public struct FrameSummary {
  /// Bytes of the frame in the file, and when unpacked.
  public internal(set) var (size, length) = (0, 0)
  /// Line feeds, and what follows the last one.
  public internal(set) var lines = 0
  /// Actions, those in lists too; records that are none; lines with a fault.
  public internal(set) var (actions, others, bad) = (0, 0, 0)
  /// Actions whose level is error, and those without a readable time.
  public internal(set) var (errors, untimed) = (0, 0)
  /// Whether each line is just one action, and ends in a line feed.
  public internal(set) var isPlain = false
  /// Whether a record tells the name of somebody or something.
  public internal(set) var tellsNames = false
  /// Between when the actions with a readable time were.
  public internal(set) var (oldest, newest): (Timestamp?, Timestamp?) = (nil, nil)
  /// An object: how many actions are of each kind that is a string. Absent where there are
  /// too many to name, as are the lists below; that means any.
  public internal(set) var kinds = ScanValue.absent
  /// Lists of ids, strings or numbers.
  public internal(set) var guilds = ScanValue.absent
  /// See `guilds`.
  public internal(set) var channels = ScanValue.absent
  /// See `guilds`.
  public internal(set) var users = ScanValue.absent
  /// A list of strings: whose the records are.
  public internal(set) var profiles = ScanValue.absent

  /// Reads a line of an index. Returns nil when it is not one.
  init?(_ line: UnsafeRawBufferPointer) {
    do throws(ScanFault) {
      var members = try ScanMembers(line)
      while try members.next() {
        guard let member = SummaryMember(members.key) else { continue }
        guard set(member, members.value) else { return nil }
      }
    } catch {
      return nil
    }
    // Faults of these would be met only later.
    guard Self.isWhole(kinds, isObject: true), size >= 0, actions >= 0, lines >= 0 else {
      return nil
    }
    for list in [guilds, channels, users, profiles] where !Self.isWhole(list, isObject: false) {
      return nil
    }
  }

  private mutating func set(_ member: SummaryMember, _ value: ScanValue) -> Bool {
    func number(_ path: WritableKeyPath<FrameSummary, Int>) -> Bool {
      guard let number = value.wholeNumber else { return false }
      self[keyPath: path] = number
      return true
    }
    switch member {
    case .size: return number(\.size)
    case .length: return number(\.length)
    case .lines: return number(\.lines)
    case .actions: return number(\.actions)
    case .others: return number(\.others)
    case .bad: return number(\.bad)
    case .errors: return number(\.errors)
    case .untimed: return number(\.untimed)
    case .plain: isPlain = value.isWord("true")
    case .names: tellsNames = value.isWord("true")
    case .oldest: oldest = value.rawText.flatMap { Timestamp(rfc3339: $0) }
    case .newest: newest = value.rawText.flatMap { Timestamp(rfc3339: $0) }
    case .kinds: kinds = value
    case .guilds: guilds = value
    case .channels: channels = value
    case .users: users = value
    case .profiles: profiles = value
    }
    return true
  }

  private static func isWhole(_ set: ScanValue, isObject: Bool) -> Bool {
    if set.isAbsent { return true }
    do throws(ScanFault) {
      if isObject {
        var members = try ScanMembers(set.bytes)
        while try members.next() {}
      } else {
        var elements = try ScanElements(set.bytes)
        while try elements.next() {}
      }
      return true
    } catch {
      return false
    }
  }
}

enum SummaryMember: String, CaseIterable {
  case size, length, lines, actions, others, bad, errors, untimed, plain, names, oldest, newest
  case kinds, guilds, channels, users, profiles

  init?(_ key: ScanValue) {
    guard let found = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(key.bytes) })
    else { return nil }
    self = found
  }
}

extension ScanValue {
  /// A number without sign, point and exponent; nil for anything else, and what is too large.
  public var wholeNumber: Int? {
    guard count > 0, count <= 18 else { return nil }
    var number = 0
    for byte in bytes {
      guard byte &- 0x30 < 10 else { return nil }
      number = number * 10 + Int(byte &- 0x30)
    }
    return number
  }

  fileprivate func isWord(_ word: StaticString) -> Bool {
    bytes.elementsEqual(
      UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }
}
