import Core

/// A whole repository, as a server gives it in one file: which records there are, and what they
/// are called (AT Protocol, "Repository").
struct RepositoryTree {
  /// By `NSID/KEY`, sorted by bytes.
  private(set) var records: [(path: String, cid: CID)] = []
  private var blocks: [[UInt8]: UnsafeRawBufferPointer] = [:]

  /// The deepest tree that is read; those of servers have a level for each four-fold.
  private static let deepest = 64

  /// Reads the tree of a file, which must outlive it; records are not looked at.
  ///
  /// - Parameter file: a CAR file whose first root is a commit.
  /// - Throws: `Failure` where it is none, or a part of the tree is missing.
  init(_ file: UnsafeRawBufferPointer) throws(Failure) {
    var car = try CARBlocks(file)
    while let (cid, content) = try car.next() { blocks[cid] = content }
    guard let root = try car.root(), let commit = try value(of: root),
      let data = commit["data"]?.link
    else { throw Failure("a repository without a commit") }
    try walk(data, depth: 0)
  }

  /// What a block holds; nil where the file has none of that name.
  ///
  /// - Throws: `Failure` for what cannot be read.
  func value(of cid: CID) throws(Failure) -> CBORValue? {
    guard let name = cid.bytes, let block = blocks[name] else { return nil }
    var reader = CBORReader(block)
    return try reader.next()
  }

  private mutating func walk(_ cid: CID, depth: Int) throws(Failure) {
    guard depth < Self.deepest, let node = try value(of: cid) else {
      throw Failure("a repository of which a part is missing")
    }
    if let left = node["l"]?.link { try walk(left, depth: depth + 1) }
    var path: [UInt8] = []
    for entry in node["e"]?.elements ?? [] {
      // Each key is told by how much of the one before it begins with.
      guard let shared = entry["p"]?.integer, (0...Int64(path.count)).contains(shared),
        case .bytes(let rest) = entry["k"], let record = entry["v"]?.link
      else { throw Failure("a repository whose tree is none") }
      path = path.prefix(Int(shared)) + rest
      records.append((String(decoding: path, as: UTF8.self), record))
      if let right = entry["t"]?.link { try walk(right, depth: depth + 1) }
    }
  }
}
