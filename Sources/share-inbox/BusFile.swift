import CCrypto
import Core
import Records

/// A file as it travels on a bus: the record `inbox_file`.
struct BusFile {
  let name: ItemName
  let content: [UInt8]

  init(name: ItemName, content: [UInt8]) { (self.name, self.content) = (name, content) }

  /// Reads a record, of which nothing is believed.
  init(_ line: UnsafeRawBufferPointer, maxSize: Int64) throws(Failure) {
    let object = try? JSONValue.parse(line)
    let id = object?["id"]?.string ?? "a file on the bus"
    guard let object, object["type"]?.string == RecordType.inboxFile.rawValue,
      let size = object["size"]?.integer, let digest = object["sha256"]?.string,
      let data = object["data"], data.string != nil
    else { throw Failure("not a record inbox_file", place: id) }
    let rest = object["name"]?.string.map { "-" + $0 } ?? object["suffix"]?.string.map { "." + $0 }
    guard let name = ItemName(Array((id + (rest ?? "")).utf8)), name.id == id else {
      throw Failure("not a name that add makes", place: id)
    }
    guard size <= maxSize else {
      throw Failure(OpenItem.tooLarge(size, maxSize: maxSize), place: id)
    }
    guard let content = data.withBytes({ Base64.bytes(of: $0) }) else {
      throw Failure("its data is not base64", place: id)
    }
    guard content.count == size, Self.digest(content) == digest else {
      throw Failure("its data is not what was added", place: id)
    }
    self.init(name: name, content: content)
  }

  var record: [UInt8] {
    let text = RecordText(.inboxFile).string("id", name.id).string("name", name.own)
      .string("suffix", name.own == nil ? name.suffix : nil).number("size", content.count)
      .string("sha256", Self.digest(content)).bytes
    var line = ByteBuffer()
    text.dropLast().withUnsafeBytes { line.append($0) }
    Array(",\"data\":\"".utf8).withUnsafeBytes { line.append($0) }
    content.withUnsafeBytes { Base64.append($0, to: &line) }
    Array("\"}\n".utf8).withUnsafeBytes { line.append($0) }
    return Array(line.bytes)
  }

  /// How many bytes a file may have whose record has so many.
  static func room(in record: Int) -> Int64 { Int64(max(record - 400, 0)) / 4 * 3 }

  private static func digest(_ bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    SHA256(bytes, bytes.count, &digest)
    return digest.hex
  }
}
