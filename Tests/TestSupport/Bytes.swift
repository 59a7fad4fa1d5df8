/// Calls the body with the text's UTF-8.
public func withBytes<Result>(
  _ text: String, _ body: (UnsafeRawBufferPointer) throws -> Result
) rethrows -> Result {
  try Array(text.utf8).withUnsafeBytes(body)
}
