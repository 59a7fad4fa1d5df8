import CLibc

/// What a piece of code wrote to a descriptor; a file, so that any amount fits.
public struct Captured {
  /// All of it.
  public let bytes: [UInt8]

  /// - Parameter body: given the descriptor.
  public init(_ body: (Int32) throws -> Void) throws {
    guard let file = tmpfile() else {
      bytes = []
      return
    }
    defer { fclose(file) }
    try body(fileno(file))
    lseek(fileno(file), 0, SEEK_SET)
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(fileno(file), &piece, piece.count)
      if count <= 0 { break }
      all += piece[..<count]
    }
    bytes = all
  }

  /// The bytes as text.
  public var text: String { String(decoding: bytes, as: UTF8.self) }
  /// Its lines, without empty ones.
  public var lines: [String] { text.split(separator: "\n").map(String.init) }
}
