import CCrypto
public import Core
import Records

/// What a record goes by on the bus.
public struct BusLabel: Equatable, Sendable {
  /// What it is published under.
  public let subject: String
  /// The message id, by which the server stores it once; nil for none.
  public let id: String?
  /// The last event id of its stream; nil where it is no event.
  public let event: String?
  /// When the action in it was done; nil where it is none.
  public let created: String?
}

/// Gives records their subjects and message ids, from what they say.
///
/// The id is a digest of what makes two actions one, so that a row and its live spelling are
/// stored once; of any other record, of its line. Equal ones are counted, for they are several.
public struct BusLabels {
  /// Where message ids come from.
  public enum IDs: Equatable, Sendable {
    case digest
    case none
    case member(JSONPointer)
  }

  private let ids: IDs
  private let subject: String?
  private let prefix: String?
  private let wantsMark: Bool
  private var scan = RecordScan()
  private let scratch = ScanScratch()
  private var counts = EqualCounts()
  private let digest = BusDigest()

  /// The longest member that is an id as it is, bytes; the server keeps each in memory.
  private static let longestID = 128

  /// - Parameters:
  ///   - ids: where message ids come from.
  ///   - subject: of all records; nil for what each of them says.
  ///   - prefix: a name in front of what they say; nil for none.
  ///   - wantsMark: whether `event` and `created` are wanted.
  public init(ids: IDs, subject: String?, prefix: String?, wantsMark: Bool = false) {
    (self.ids, self.subject, self.prefix, self.wantsMark) = (ids, subject, prefix, wantsMark)
  }

  /// The label of a line.
  ///
  /// - Parameters:
  ///   - named: its subject, where that is not told from it.
  ///   - known: its message id, where that is not made of it.
  /// - Throws: a `Failure` for what is no JSON object, or lacks the member that is its id.
  public mutating func label(
    _ line: UnsafeRawBufferPointer, subject named: String? = nil, id known: String? = nil
  ) throws(Failure) -> BusLabel {
    let shape: RecordShape
    do throws(ScanFault) {
      shape = try scan.read(line)
      try ScanValidator.validate(line)
    } catch {
      throw Failure(error.reason)
    }
    let own = named ?? subject ?? BusSubject.of(scan, shape)
    let isAction = shape == .action
    let created = isAction && wantsMark ? scan.fields.createdAt.string : nil
    return BusLabel(
      subject: prefix.map { "\($0).\(own)" } ?? own,
      id: known == nil ? try id(line, isAction: isAction) : known,
      event: wantsMark && !scan.event.isAbsent ? Self.event(line) : nil, created: created)
  }

  private mutating func id(
    _ line: UnsafeRawBufferPointer, isAction: Bool
  ) throws(Failure) -> String? {
    switch ids {
    case .none: return nil
    case .member(let pointer):
      guard let text = pointer.resolve(whole(line)).string, !text.isEmpty else {
        throw Failure("no id in it")
      }
      return Self.isID(text) ? text : digest([], Array(text.utf8)).text
    case .digest:
      // What two agents have alike is not the same.
      var agent = Array((prefix ?? "").utf8) + [0]
      agent += (scan.profile.string ?? "").utf8
      agent.append(0)
      let key =
        isAction
        ? digest(agent, ActionKey.identity(of: scan.fields, scratch: scratch))
        : digest(agent, line)
      return "\(key.text).\(counts.count(key))"
    }
  }

  static func isID(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longestID
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
  }

  private func whole(_ line: UnsafeRawBufferPointer) -> ScanValue {
    let value = line.trimming { $0 == 0x20 || $0 == 9 || $0 == 13 || $0 == 10 }
    return ScanValue(UnsafeRawBufferPointer(rebasing: value))
  }

  private static func event(_ line: UnsafeRawBufferPointer) -> String? {
    do throws(ScanFault) {
      return try ScanMembers.value(of: "id", in: line).string
    } catch {
      return nil
    }
  }
}

/// SHA-256 of one thing after the other: to look for it in the library each time would cost a
/// third as much again.
final class BusDigest {
  private let context: OpaquePointer

  init() {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      Diagnostics.outOfMemory()
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  func callAsFunction(_ first: [UInt8], _ second: [UInt8]) -> RecordDigest {
    second.withUnsafeBytes { self(first, $0) }
  }

  func callAsFunction(_ first: [UInt8], _ second: UnsafeRawBufferPointer) -> RecordDigest {
    var result = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    EVP_DigestInit_ex(context, nil, nil)
    EVP_DigestUpdate(context, first, first.count)
    EVP_DigestUpdate(context, second.baseAddress, second.count)
    EVP_DigestFinal_ex(context, &result, nil)
    return RecordDigest(result)
  }
}

/// SHA-256 cut to 96 bits.
struct RecordDigest: Hashable {
  let high: UInt64
  let low: UInt32

  init(_ bytes: [UInt8]) {
    high = bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes[8..<12].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// In lower-case hex.
  var text: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(unsafeUninitializedCapacity: 24) { room in
      for place in 0..<16 { room[place] = digits[Int(high >> UInt64(60 - 4 * place) & 15)] }
      for place in 0..<8 { room[16 + place] = digits[Int(low >> UInt32(28 - 4 * place) & 15)] }
      return 24
    }
  }
}

/// The how-many-th equal record one is. Memory is bounded: those that were counted longest ago
/// are forgotten first, and one of them then counts as the first again.
struct EqualCounts {
  private var counts: [RecordDigest: Int] = [:]
  private var order: [RecordDigest] = []
  private var oldest = 0
  private let capacity: Int

  init(capacity: Int = 1 << 18) { self.capacity = capacity }

  mutating func count(_ key: RecordDigest) -> Int {
    if let known = counts[key] {
      counts[key] = known + 1
      return known + 1
    }
    if order.count < capacity {
      order.append(key)
    } else {
      counts[order[oldest]] = nil
      order[oldest] = key
      oldest = (oldest + 1) % capacity
    }
    counts[key] = 1
    return 1
  }
}
