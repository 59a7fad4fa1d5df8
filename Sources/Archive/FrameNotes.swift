public import Core

/// Notes what the records of a frame are while they are packed: what `FrameSummary` reads.
public struct FrameNotes {
  /// The values that a member has in some records; nothing once there are too many.
  private struct ValueSet {
    var counts: [[UInt8]: Int] = [:]
    var isOpen = false
    let limit: Int

    mutating func add(_ value: UnsafeRawBufferPointer, _ count: Int = 1) {
      if isOpen { return }
      if value.count <= FrameNotes.longest {
        counts[Array(value), default: 0] += count
        if counts.count <= limit { return }
      }
      isOpen = true
      counts = [:]
    }

    mutating func add(_ other: ValueSet) {
      if other.isOpen {
        isOpen = true
        counts = [:]
      }
      for (value, count) in other.counts { value.withUnsafeBytes { add($0, count) } }
    }

    var sorted: [(key: [UInt8], value: Int)] {
      counts.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }
  }

  private static let longest = 80

  /// Bytes of the frame in the file, and when unpacked.
  public var (size, length) = (0, 0)
  /// Line feeds, and what follows the last one.
  public var lines = 0
  /// Records that are no actions, and lines with a fault.
  public var (others, bad) = (0, 0)
  /// Whether each line is just one action, and ends in a line feed.
  public var isPlain = true
  /// Whether a record tells the name of somebody or something.
  public var tellsNames = false
  private var (actions, errors, untimed) = (0, 0, 0)
  private var (oldest, newest): (Timestamp?, Timestamp?) = (nil, nil)
  private var kinds, guilds, channels, users, profiles: ValueSet

  /// - Parameter limit: of so many different values all are noted.
  public init(limit: Int = 256) {
    let none = ValueSet(limit: limit)
    (kinds, guilds, channels, users, profiles) = (none, none, none, none, none)
  }

  /// Notes an action.
  ///
  /// - Parameters:
  ///   - time: nil when it has none that can be read.
  ///   - kind: as it stands in the record; absent where there is none.
  public mutating func add(
    time: Timestamp?, isError: Bool, kind: ScanValue, guild: ScanValue, channel: ScanValue,
    user: ScanValue
  ) {
    actions += 1
    if isError { errors += 1 }
    if let time {
      oldest = min(oldest ?? time, time)
      newest = max(newest ?? time, time)
    } else {
      untimed += 1
    }
    if kind.isString { kinds.add(kind.bytes) }
    if guild.isString || guild.isNumber { guilds.add(guild.bytes) }
    if channel.isString || channel.isNumber { channels.add(channel.bytes) }
    if user.isString || user.isNumber { users.add(user.bytes) }
  }

  /// Notes whose a record is.
  public mutating func add(profile: ScanValue) {
    if profile.isString { profiles.add(profile.bytes) }
  }

  /// Adds what another frame holds.
  public mutating func add(_ frame: FrameNotes) {
    (size, length) = (size + frame.size, length + frame.length)
    lines += frame.lines
    (others, bad) = (others + frame.others, bad + frame.bad)
    isPlain = isPlain && frame.isPlain
    tellsNames = tellsNames || frame.tellsNames
    (actions, errors) = (actions + frame.actions, errors + frame.errors)
    untimed += frame.untimed
    oldest = [oldest, frame.oldest].compactMap(\.self).min()
    newest = [newest, frame.newest].compactMap(\.self).max()
    kinds.add(frame.kinds)
    guilds.add(frame.guilds)
    channels.add(frame.channels)
    users.add(frame.users)
    profiles.add(frame.profiles)
  }

  /// Writes the line of an index, with its line feed.
  ///
  /// - Parameter version: of the format, in the first line.
  public func write(version: Int? = nil, to out: inout ByteBuffer) {
    var text = "{"
    if let version { text += #""version":\#(version),"# }
    text += #""size":\#(size),"length":\#(length),"lines":\#(lines),"actions":\#(actions)"#
    for (name, value) in [
      ("others", others), ("bad", bad), ("errors", errors), ("untimed", untimed),
    ] where value > 0 { text += #","\#(name)":\#(value)"# }
    if isPlain { text += #","plain":true"# }
    if tellsNames { text += #","names":true"# }
    if let oldest { text += #","oldest":"\#(oldest.exact)""# }
    if let newest { text += #","newest":"\#(newest.exact)""# }
    put(text, &out)
    if !kinds.isOpen {
      put(#","kinds":{"#, &out)
      for (index, kind) in kinds.sorted.enumerated() {
        if index > 0 { put(",", &out) }
        kind.key.withUnsafeBytes { out.append($0) }
        put(":\(kind.value)", &out)
      }
      put("}", &out)
    }
    for (name, set) in [
      ("guilds", guilds), ("channels", channels), ("users", users), ("profiles", profiles),
    ] where !set.isOpen {
      put(#","\#(name)":["#, &out)
      for (index, value) in set.sorted.enumerated() {
        if index > 0 { put(",", &out) }
        value.key.withUnsafeBytes { out.append($0) }
      }
      put("]", &out)
    }
    put("}\n", &out)
  }

  private func put(_ text: String, _ out: inout ByteBuffer) {
    var text = text
    text.withUTF8 { out.append(UnsafeRawBufferPointer($0)) }
  }
}

extension Timestamp {
  /// RFC 3339 in UTC with all decimals there are, three at least.
  public var exact: String {
    let fine = Int(nanoseconds) % 1_000_000
    return fine == 0 ? rfc3339 : rfc3339.dropLast() + fine.digits(6) + "Z"
  }
}
