public import Core

/// The name of a conversation or an agent, as it is given on a command line.
public enum ThreadName {
  /// The longest that a gateway takes, characters.
  private static let longest = 512

  /// Why a text is no name: lower case, no full stop; nil when it is one.
  public static func fault(_ text: String) -> String? {
    if text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) })
    {
      return "a name without control characters is needed"
    }
    return text.unicodeScalars.count > longest ? "more than \(longest) characters" : nil
  }
}

extension Reading<String> {
  /// The name of a conversation or an agent.
  public static var threadName: Reading {
    Reading { argument throws(UsageError) in
      if argument.path.isEmpty { throw argument.fault("nothing is named") }
      if let reason = ThreadName.fault(argument.value) { throw argument.fault(reason) }
      return argument.value
    }
  }
}
