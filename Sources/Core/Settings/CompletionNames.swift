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
    let aliases = sshAliases(in: folders.expandHome("~/.ssh/config"))
    return own + aliases.filter { !own.contains($0) }
  }

  static func sshAliases(in path: String) -> [String] {
    guard let bytes = (try? StateFile(path: path).read()) ?? nil else { return [] }
    var names: [String] = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let words = line.split { [9, 13, 32, UInt8(ascii: "="), UInt8(ascii: "\"")].contains($0) }
        .map { String(decoding: $0, as: UTF8.self) }
      guard let keyword = words.first, keyword.lowercased() == "host" else { continue }
      names += words.dropFirst().filter { name in
        !name.utf8.contains { Array("*?!#".utf8).contains($0) }
      }
    }
    return names
  }
}
