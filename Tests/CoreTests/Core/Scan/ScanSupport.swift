import TestSupport

@testable import Core

/// The members of an object as text, or the reason of its fault.
func members(_ text: String) -> String {
  withBytes(text) { bytes in
    do throws(ScanFault) {
      var found = ""
      var members = try ScanMembers(bytes)
      while try members.next() {
        found += String(decoding: members.key.bytes, as: UTF8.self) + "="
        found += String(decoding: members.value.bytes, as: UTF8.self) + ";"
      }
      return found
    } catch {
      return error.reason
    }
  }
}

/// The text of what stands between the quotes of a JSON string.
func unescaped(_ raw: String) -> [UInt8] {
  unescaped(Array(raw.utf8))
}

/// The same for bytes that may be no UTF-8.
func unescaped(_ raw: [UInt8]) -> [UInt8] {
  let scratch = ScanScratch()
  return raw.withUnsafeBytes { bytes in
    withExtendedLifetime(scratch) { Array(scratch.text(of: bytes)) }
  }
}

/// The fault of the whole grammar, nil when the text is one value.
func fault(_ text: String) -> ScanFault? {
  withBytes(text) { bytes in
    do throws(ScanFault) {
      try ScanValidator.validate(bytes)
      return nil
    } catch {
      return error
    }
  }
}
