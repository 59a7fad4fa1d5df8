import CLibc

/// Files that are installed with the commands, beside their folder, and stand there in the tree.
public enum SharedFile {
  /// The first of some places that is there.
  ///
  /// - Parameter places: from the folder above that of the commands: `share/agentutils/prices`.
  public static func path(_ places: String...) -> String? {
    let folders =
      Process.startedPath.map { [String($0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.startIndex))] }
      ?? []
    let path = (Process.environment("PATH") ?? "").split(separator: ":").map(String.init)
    for folder in folders + path where access(Folders.join(folder, "agentutils"), X_OK) == 0 {
      for place in places {
        let file = Folders.join(folder, "../" + place)
        if access(file, R_OK) == 0 { return file }
      }
    }
    return nil
  }
}
