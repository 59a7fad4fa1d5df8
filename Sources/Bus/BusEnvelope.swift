public import Core
import Records

/// A record with what it goes by around it, as `bus-get -m` prints it. Valid as long as the
/// line's bytes are.
public struct BusEnvelope {
  /// The record's own bytes.
  public let data: UnsafeRawBufferPointer
  /// What it is to be published under; nil for what it says itself.
  public let subject: String?
  /// Its message id; nil for what is made of it.
  public let id: String?

  private enum Member: Int, ScanName {
    case type, data, subject, id
    static let table = NameTable<Member>()
  }

  /// - Parameter line: one line.
  /// - Throws: a `Fault` for what is no such record, and for a subject or an id that cannot be
  ///   published as it is.
  public init(_ line: UnsafeRawBufferPointer) throws(Failure) {
    var fields = ScanFields<Member>()
    do throws(ScanFault) {
      try fields.read(line)
    } catch {
      throw Failure(error.reason)
    }
    guard fields[.type].isText("bus_message") else {
      throw Failure("not a bus_message")
    }
    if fields[.data].isAbsent { throw Failure("no data in it") }
    data = fields[.data].bytes
    subject = try Self.text(fields[.subject], "subject", fault: BusSubject.fault(of:))
    id = try Self.text(fields[.id], "id") { id in
      BusLabels.isID(id) ? nil : "not of 1 to 128 characters of ASCII without blanks"
    }
  }

  private static func text(
    _ value: ScanValue, _ name: String, fault: (String) -> String?
  ) throws(Failure) -> String? {
    if value.isNull { return nil }
    guard value.isString, let text = value.string else {
      throw Failure("\(name): not a string")
    }
    if let fault = fault(text) { throw Failure("\(name): \(fault)") }
    return text
  }
}
