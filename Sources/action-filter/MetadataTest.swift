import Core

/// A value that the metadata is to hold at a place: `--where PATH=VALUE`.
struct MetadataTest: Equatable {
  private let pointer: JSONPointer
  private let text: [UInt8]

  init(_ argument: String) throws(UsageError) {
    guard let equals = argument.firstIndex(of: "=") else {
      throw UsageError("--where \(argument): PATH=VALUE is needed")
    }
    do throws(UsageError) {
      pointer = try JSONPointer(argument[..<equals])
    } catch {
      throw UsageError("--where \(argument): \(error.problem)")
    }
    text = Array(argument[argument.index(after: equals)...].utf8)
  }

  /// Whether the metadata holds the value there. Strings, numbers, true and
  /// false match what they are; null and absent both match `null`.
  func matches(_ metadata: ScanValue, _ scratch: ScanScratch) -> Bool {
    let value = pointer.resolve(metadata)
    if value.isNull { return text.elementsEqual("null".utf8) }
    return equals(value, text, scratch)
  }
}
