extension KindFacts {
  /// The voice server of a Riff box.
  public static let riff = KindFacts(
    name: "riff", line: "a voice server, such as agent-serve", secret: "secret")
}
