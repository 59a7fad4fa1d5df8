import CNats

/// The library's messages that are done with.
///
/// It has a thread free them. Handed over one by one, each of them costs two changes of threads;
/// so many go at once.
final class BusBin {
  private var messages: [OpaquePointer] = []
  private var bytes = 0

  private static let most = 512
  /// What may lie here, bytes.
  private static let mostBytes = 512 << 10

  deinit { empty() }

  /// Takes a message, which must not be used any more.
  func put(_ message: OpaquePointer) {
    messages.append(message)
    bytes += Int(natsMsg_GetDataLength(message))
    if messages.count >= Self.most || bytes >= Self.mostBytes { empty() }
  }

  private func empty() {
    for message in messages { natsMsg_Destroy(message) }
    messages.removeAll(keepingCapacity: true)
    bytes = 0
  }
}
