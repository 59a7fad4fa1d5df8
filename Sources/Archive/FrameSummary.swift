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

  private enum Member: Int, ScanName {
    case size, length, lines, actions, others, bad, errors, untimed, plain, names, oldest, newest
    case kinds, guilds, channels, users, profiles
    static let table = NameTable<Member>()
  }

  /// Reads a line of an index. Returns nil when it is not one.
  init?(_ line: UnsafeRawBufferPointer) {
    var fields = ScanFields<Member>()
    do throws(ScanFault) { try fields.read(line) } catch { return nil }
    for (member, path) in Self.numbers where !fields[member].isAbsent {
      guard let number = fields[member].wholeNumber else { return nil }
      self[keyPath: path] = number
    }
    (isPlain, tellsNames) = (fields[.plain].isWord("true"), fields[.names].isWord("true"))
    oldest = fields[.oldest].rawText.flatMap { Timestamp(rfc3339: $0) }
    newest = fields[.newest].rawText.flatMap { Timestamp(rfc3339: $0) }
    (kinds, guilds, channels) = (fields[.kinds], fields[.guilds], fields[.channels])
    (users, profiles) = (fields[.users], fields[.profiles])
    // Faults of these would be met only later.
    guard Self.isWhole(kinds, isObject: true), size >= 0, actions >= 0, lines >= 0 else {
      return nil
    }
    for list in [guilds, channels, users, profiles] where !Self.isWhole(list, isObject: false) {
      return nil
    }
  }

  private static var numbers: [(Member, WritableKeyPath<FrameSummary, Int>)] {
    [
      (.size, \.size), (.length, \.length), (.lines, \.lines), (.actions, \.actions),
      (.others, \.others), (.bad, \.bad), (.errors, \.errors), (.untimed, \.untimed),
    ]
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
}
