import CLibc

/// Bytes between two pages that cannot be read, at the end of the one or the
/// start of the other: who reads one byte too far is ended by the system.
public enum GuardedBytes {
  /// There was no memory for the pages.
  public struct NoMemory: Error {}

  /// Calls the body twice, with the bytes at the end and at the start.
  ///
  /// - Throws: `NoMemory`.
  public static func with(
    _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(NoMemory) {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let room = (bytes.count + page - 1) / page * page + (bytes.isEmpty ? page : 0)
    guard
      let base = mmap(nil, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      base != UnsafeMutableRawPointer(bitPattern: -1),
      mprotect(base + page, room, PROT_READ | PROT_WRITE) == 0
    else { throw NoMemory() }
    defer { munmap(base, room + 2 * page) }
    for place in [base + page + room - bytes.count, base + page] {
      UnsafeMutableRawBufferPointer(start: place, count: bytes.count).copyBytes(from: bytes)
      body(UnsafeRawBufferPointer(start: place, count: bytes.count))
    }
  }
}
