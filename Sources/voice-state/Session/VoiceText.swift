import Core

/// A text that may be very long, read only as far as it is wanted.
struct VoiceText: Sendable {
  private let value: JSONValue?

  /// - Parameter value: a string; anything else is an empty text.
  init(_ value: JSONValue?) { self.value = value }

  /// The length in bytes of UTF-8, known without reading it.
  var byteCount: Int { value?.byteCount ?? 0 }

  /// Whether there is nothing.
  var isEmpty: Bool { byteCount == 0 }

  /// The whole text.
  var whole: String { value?.string ?? "" }

  /// The beginning, at most so many bytes of UTF-8.
  func beginning(bytes limit: Int) -> String { value?.string(bytes: limit) ?? "" }
}
