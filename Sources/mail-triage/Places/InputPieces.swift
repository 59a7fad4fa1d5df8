import CLibc
import Core

/// A file in pieces of lines, of which it never holds more than one buffer.
final class InputPieces {
  /// One piece, valid until the next is read.
  struct Piece {
    /// With the LF, if it ends the line.
    let bytes: UnsafeRawBufferPointer
    let isStart: Bool
    /// Whether the line ends with it: by a LF, or the end of the file.
    let isEnd: Bool
  }

  private let descriptor: Int32
  private let beforeReading: () throws -> Void
  private var buffer = [UInt8](repeating: 0, count: 256 << 10)
  private var start = 0
  private var end = 0
  private var isAtEnd = false
  private var isLineStart = true

  init(_ descriptor: Int32, beforeReading: @escaping () throws -> Void) {
    (self.descriptor, self.beforeReading) = (descriptor, beforeReading)
  }

  /// Up to the end of its first line or a buffer of it; `next` reads it once more.
  func first<Result>(_ body: (UnsafeRawBufferPointer) -> Result) throws -> Result {
    while buffer[start..<end].withUnsafeBytes({ $0.placeOfLineFeed }) == nil, !isAtEnd,
      end < buffer.count
    { try fill() }
    return buffer[start..<end].withUnsafeBytes(body)
  }

  /// The next piece. Returns false at the end.
  func next(_ body: (Piece) throws -> Void) throws -> Bool {
    while true {
      let held = end - start
      let newline = buffer[start..<end].withUnsafeBytes { $0.placeOfLineFeed }
      if newline == nil, !isAtEnd, held < buffer.count {
        try fill()
        continue
      }
      if held == 0 { return false }
      let count = newline.map { $0 + 1 } ?? held
      let isEnd = newline != nil || isAtEnd
      defer {
        start += count
        isLineStart = isEnd
      }
      try buffer[start..<start + count].withUnsafeBytes { bytes in
        try body(Piece(bytes: bytes, isStart: isLineStart, isEnd: isEnd))
      }
      return true
    }
  }

  private func fill() throws {
    if start > 0 {
      let count = end - start
      buffer.withUnsafeMutableBytes { bytes in
        if let base = bytes.baseAddress { memmove(base, base + start, count) }
      }
      (start, end) = (0, count)
    }
    while true {
      try beforeReading()
      let count = buffer.withUnsafeMutableBytes { bytes in
        CLibc.read(descriptor, bytes.baseAddress.map { $0 + end }, bytes.count - end)
      }
      if count < 0 {
        if systemError == EINTR || systemError == EAGAIN { continue }
        throw Failure(code: systemError)
      }
      isAtEnd = count == 0
      end += count
      return
    }
  }
}

extension InputPieces {
  /// Of a record no more is read, bytes; a longer line is passed over.
  static let longestRecord = 16 << 20

  enum Part {
    case mail(UnsafeRawBufferPointer, isQuoted: Bool)
    /// A line, nil for one that is too long.
    case record(UnsafeRawBufferPointer?)
  }

  /// How long the byte order mark is that some editors put in front of a file.
  static func mark(_ start: some Sequence<UInt8>) -> Int {
    start.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
  }

  /// Hands over each mail or record, until there is enough.
  func read(_ body: (Part, _ number: Int) throws -> Bool) throws {
    if let reason = try first({ ForeignText.reason(of: $0) }) { throw Failure(reason) }
    let (isMailbox, isMail) = try first { start in
      let start = UnsafeRawBufferPointer(rebasing: start.dropFirst(Self.mark(start)))
      let line = UnsafeRawBufferPointer(rebasing: start[..<(start.placeOfLineFeed ?? start.count)])
      return (line.starts(with: "From ".utf8), MailHeader.isField(line))
    }
    if isMailbox || isMail {
      try mails(isMailbox: isMailbox, body)
    } else {
      // Also where the first of them is bad.
      try records(body)
    }
  }

  private func records(_ body: (Part, Int) throws -> Bool) throws {
    var line: [UInt8] = []
    var number = 0
    var isTooLong = false
    var goesOn = true
    while goesOn,
      try next({ piece in
        isTooLong = isTooLong || line.count + piece.bytes.count > Self.longestRecord
        if !isTooLong { line += piece.bytes }
        guard piece.isEnd else { return }
        number += 1
        if line.last == 10 { line.removeLast() }
        if number == 1 { line.removeFirst(Self.mark(line)) }
        if isTooLong {
          goesOn = try body(.record(nil), number)
        } else if !line.allSatisfy({ $0.isBlank || $0 == 13 }) {
          goesOn = try line.withUnsafeBytes { try body(.record($0), number) }
        }
        line.removeAll(keepingCapacity: line.capacity < 1 << 20)
        isTooLong = false
      })
    {}
  }

  private func mails(isMailbox: Bool, _ body: (Part, Int) throws -> Bool) throws {
    var mail: [UInt8] = []
    var number = 0
    var goesOn = true
    // An empty line stands in front of the next.
    var wasEmpty = true
    func end() throws {
      guard number > 0 else { return }
      goesOn = try mail.withUnsafeBytes { try body(.mail($0, isQuoted: isMailbox), number) }
      mail.removeAll(keepingCapacity: true)
    }
    while goesOn,
      try next({ piece in
        let bytes = piece.bytes.dropFirst(number == 0 ? Self.mark(piece.bytes) : 0)
        let isNext = piece.isStart && wasEmpty && (number == 0 || Self.isSeparator(bytes))
        if isMailbox, isNext {
          try end()
          number += 1
        } else if number == 0 {
          number = 1
        }
        wasEmpty =
          piece.isStart && piece.isEnd && piece.bytes.allSatisfy { $0 == 10 || $0 == 13 }
        mail += bytes.prefix(Item.mostOfMail - mail.count)
      })
    {}
    if goesOn { try end() }
  }

  /// Whether a line stands in front of a mail: `From SENDER DATE`, where the date is as of
  /// ctime(3), or an address alone. A sentence that begins so is text.
  private static func isSeparator(_ line: some Sequence<UInt8>) -> Bool {
    let line = Array(line.prefix(1000).prefix { $0 != 10 && $0 != 13 })
    guard line.starts(with: "From ".utf8) else { return false }
    let words = String(decoding: line.dropFirst(5), as: UTF8.self).split(separator: " ")
    if words.count == 1 { return words[0].utf8.contains(UInt8(ascii: "@")) }
    let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    return words.indices.dropFirst().dropLast(3).contains { index in
      days.contains(String(words[index])) && words[index + 1].utf8.count == 3
        && Int(words[index + 2]) != nil && words[index + 3].utf8.contains(UInt8(ascii: ":"))
    }
  }
}

/// A folder of mails, one a file, in `new` and `cur`.
final class Maildir {
  let path: String
  /// The names, without their flags, of those that were handed out and are still there: a
  /// mail reader gives them others, and moves them.
  private var known: Set<String> = []

  /// Nil for a folder without these two.
  init?(_ path: String) {
    self.path = path
    for name in ["new", "cur"] {
      guard stat(following: Folders.join(path, name))?.isFolder == true else { return nil }
    }
  }

  /// The paths of what was not seen by anybody and not handed out before, the oldest first.
  func unseen() throws(Failure) -> [String] {
    var found: [(name: String, path: String)] = []
    var present: Set<String> = []
    // What is moved from one to the other meanwhile is found in the second at least.
    for folder in ["new", "cur"] {
      let place = Folders.join(path, folder)
      for name in try FolderFile.names(in: place, isNeeded: true) where !name.hasPrefix(".") {
        let (base, flags) = Self.split(name)
        present.insert(base)
        if folder == "cur", flags.contains("S") || flags.contains("T") { continue }
        if known.insert(base).inserted { found.append((base, Folders.join(place, name))) }
      }
    }
    known.formIntersection(present)
    return found.sorted { Self.order($0.name, $1.name) }.map(\.path)
  }

  /// A file that was moved before it could be opened may be found under another name.
  func giveBack(_ path: String) {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    known.remove(Self.split(name).base)
  }

  var watched: [String] { ["new", "cur"].map { Folders.join(path, $0) } }

  /// A name, and the flags behind its `:2,`; some systems have a `;` or a `!` there.
  static func split(_ name: String) -> (base: String, flags: Substring) {
    guard let mark = name.lastIndex(where: { $0 == ":" || $0 == ";" || $0 == "!" }),
      name[name.index(after: mark)...].hasPrefix("2,")
    else { return (name, "") }
    return (String(name[..<mark]), name[mark...].dropFirst(3))
  }

  /// Names begin with the time, in seconds.
  private static func order(_ one: String, _ other: String) -> Bool {
    func time(_ name: String) -> UInt64 {
      UInt64(name.prefix(18).prefix { $0.isASCII && $0.isNumber }) ?? 0
    }
    let (first, second) = (time(one), time(other))
    return first == second ? one < other : first < second
  }
}
