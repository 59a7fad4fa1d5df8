/// A text that may be very long, read only as far as it is wanted.
public struct VoiceText: Sendable {
  private let value: JSONValue?

  /// - Parameter value: a string; anything else is an empty text.
  init(_ value: JSONValue?) { self.value = value }

  /// The length in bytes of UTF-8, known without reading it.
  public var byteCount: Int { value?.byteCount ?? 0 }

  /// Whether there is nothing.
  public var isEmpty: Bool { byteCount == 0 }

  /// The whole text.
  public var whole: String { value?.string ?? "" }

  /// The beginning, at most so many bytes of UTF-8.
  public func beginning(bytes limit: Int) -> String { value?.string(bytes: limit) ?? "" }
}
