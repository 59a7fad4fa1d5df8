public import Core

/// The name of a conversation or an agent, as it is given on a command line.
extension Reading<String> {
  /// Why a text is no name: lower case, no full stop; nil when it is one.
  public static func faultOfThreadName(_ text: String) -> String? {
    if text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) })
    {
      return "a name without control characters is needed"
    }
    // The longest that a gateway takes.
    return text.unicodeScalars.count > 512 ? "more than 512 characters" : nil
  }

  /// The name of a conversation or an agent.
  public static var threadName: Reading {
    Reading { argument throws(UsageError) in
      if argument.path.isEmpty { throw argument.fault("nothing is named") }
      if let reason = faultOfThreadName(argument.value) { throw argument.fault(reason) }
      return argument.value
    }
  }
}
