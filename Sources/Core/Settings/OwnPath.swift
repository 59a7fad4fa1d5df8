import CLibc

/// Where a file that the suite writes really is. Who may write to its folder could put
/// a link in its place, and have the user overwrite a file of the user's own: a link is
/// followed only where that is impossible.
public enum OwnPath {
  /// The file behind the links.
  ///
  /// - Returns: a path that is not a link, and need not exist.
  /// - Throws: `Failure` for a link that somebody else could have made.
  public static func resolve(_ path: String) throws(Failure) -> String {
    var place = path
    // As many as the system follows.
    for _ in 0..<40 {
      guard let link = stat(at: place) else {
        if systemError == ENOENT { return place }
        throw Failure(code: systemError, place: path)
      }
      guard link.isLink else { return place }
      let folder = folder(of: place)
      guard let around = stat(following: folder) else {
        throw Failure(code: systemError, place: path)
      }
      guard isOurs(link, in: around) else {
        throw Failure(path, "a symbolic link that others could have made: not followed")
      }
      guard let target = readlink(place) else {
        throw Failure(path, "a symbolic link that cannot be followed")
      }
      place = target.hasPrefix("/") ? target : Folders.join(folder, target)
    }
    throw Failure(path, systemReason(ELOOP))
  }

  /// Opens a file that only grows, and makes it for the user alone where there is none.
  ///
  /// - Returns: for the caller to close.
  /// - Throws: `Failure`, also for what is not a regular file.
  public static func append(_ path: String) throws(Failure) -> Int32 {
    let descriptor = clibc_append(try resolve(path))
    guard descriptor >= 0 else { throw Failure(path, systemReason(systemError)) }
    guard stat(of: descriptor)?.isRegular == true else {
      close(descriptor)
      throw Failure(path, "not a regular file")
    }
    return descriptor
  }

  static func folder(of path: String) -> String {
    switch path.lastIndex(of: "/") {
    case nil: "."
    case path.startIndex: "/"
    case .some(let slash): String(path[..<slash])
    }
  }

  static func name(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }

  private static func isOurs(_ link: stat, in folder: stat) -> Bool {
    let mayBeOurs = { (owner: uid_t) in owner == geteuid() || owner == 0 }
    guard mayBeOurs(link.st_uid), mayBeOurs(folder.st_uid) else { return false }
    // In a folder like /tmp nobody can rename what is another's.
    return folder.st_mode & 0o022 == 0 || folder.st_mode & mode_t(S_ISVTX) != 0
  }
}
