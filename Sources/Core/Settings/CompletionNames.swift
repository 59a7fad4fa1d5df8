import CLibc

/// Names that a shell may offer, out of the user's own files. What cannot be read is
/// left out: nobody looks at errors while completing a word.
public enum CompletionNames {
  /// The profiles of the configuration.
  public static let profiles = Completion.live {
    (try? Settings())?.configuration.profiles.keys.sorted() ?? []
  }

  /// The buses of the configuration.
  public static let buses = Completion.live {
    (try? Settings())?.configuration.buses.keys.sorted() ?? []
  }

  /// The hosts of the configuration, and the aliases of ssh_config(5).
  public static let hosts = Completion.live(hostNames)

  /// Their names.
  @Sendable public static func hostNames() -> [String] {
    let settings = try? Settings()
    let own = settings?.configuration.hosts.keys.sorted() ?? []
    let folders = settings?.folders ?? Folders()
    let aliases = sshAliases(folders)
    return own + aliases.filter { !own.contains($0) }
  }

  /// The hosts that ~/.ssh/config and the files that it includes have a name for: no patterns, and
  /// no servers of git, where nobody can sit down.
  public static func sshAliases(_ folders: Folders) -> [String] {
    let folder = folders.expandHome("~/.ssh")
    var names: [String] = []
    // Files may include each other.
    var left = 64
    func read(_ path: String) {
      left -= 1
      guard left >= 0, let bytes = (try? StateFile(path: path).read()) ?? nil else { return }
      var block: [String] = []
      func endBlock() {
        names += block.filter { !names.contains($0) }
        block = []
      }
      for line in bytes.split(separator: UInt8(ascii: "\n")) {
        let words = line.split { [9, 13, 32, UInt8(ascii: "="), UInt8(ascii: "\"")].contains($0) }
          .map { String(decoding: $0, as: UTF8.self) }
        switch words.first?.lowercased() {
        case "host":
          endBlock()
          block = words.dropFirst().filter { name in
            !name.utf8.contains { Array("*?!#".utf8).contains($0) }
          }
        case "match": endBlock()
        case "user" where words.dropFirst().first == "git": block = []
        case "include":
          for word in words.dropFirst() { included(word, in: folder, folders).forEach(read) }
        default: break
        }
      }
      endBlock()
    }
    read(Folders.join(folder, "config"))
    return names
  }

  /// The files of an Include; patterns count in the last part of a path.
  private static func included(
    _ word: String, in folder: String, _ folders: Folders
  ) -> [String] {
    let path = Folders.join(folder, folders.expandHome(word))
    guard let slash = path.lastIndex(of: "/") else { return [] }
    let glob = Glob(path[path.index(after: slash)...].utf8, hasSets: true)
    if glob.isLiteral { return [path] }
    let names = (try? FolderFile.names(in: String(path[..<slash]))) ?? []
    return names.filter { !$0.hasPrefix(".") && glob.matches($0) }.sorted()
      .map { Folders.join(String(path[..<slash]), $0) }
  }
}
