import FlyingSocks
import Foundation

/// One client's connection, request by request.
struct Session {
  /// What requests work on.
  let backend: Backend
  /// The connection; closed by `run`.
  let socket: AsyncSocket

  /// Serves until the client or a fault ends the connection.
  func run() async {
    let connection = Connection(descriptor: socket.socket.file.rawValue)
    connection.prepare()
    var reader = RequestReader(socket)
    do {
      while let head = try await reader.head() {
        guard let ticket = backend.tickets.take() else { break }
        guard try await serve(head, &reader, connection, ticket) else { break }
      }
    } catch let fault as RequestFault {
      var answer = fault.answer
      answer.closes = true
      try? await socket.write(Data(answer.bytes(isHead: false)))
      await linger(connection)
    } catch {
      // The client went away, or was cut off.
    }
    // After the close the number may belong to another connection.
    connection.release()
    try? socket.close()
  }

  /// - Returns: whether the connection goes on.
  private func serve(
    _ head: RequestHead, _ reader: inout RequestReader, _ connection: Connection, _ ticket: Ticket
  ) async throws -> Bool {
    if head["expect"]?.lowercased() == "100-continue", !isTooLong(head.framing) {
      try await socket.write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
    let body: RequestReader.Body
    if head["expect"] != nil && isTooLong(head.framing) {
      // The client waits: it need not send what will be refused.
      body = .tooLarge(isDrained: false)
    } else {
      body = try await reader.body(head.framing, keeps: backend.wantsBody(head))
    }
    if head.method == "GET", let feed = backend.feed(head.path), backend.allows(head) {
      withExtendedLifetime(ticket) {}
      try await stream(feed, head, connection)
      return false
    }
    var answer = await backend.answer(head, body: body)
    let isDrained = body != .tooLarge(isDrained: false)
    answer.closes = !head.keepsAlive || !isDrained
    try await socket.write(Data(answer.bytes(isHead: head.method == "HEAD")))
    withExtendedLifetime(ticket) {}
    if !isDrained { await linger(connection) }
    return !answer.closes
  }

  private func isTooLong(_ framing: RequestHead.Framing) -> Bool {
    if case .length(let length) = framing { return length > RequestReader.bodyLimit }
    return false
  }

  /// Reads what is still under way for a moment: closing over unread bytes would
  /// reset the connection, and the client might never see the answer.
  private func linger(_ connection: Connection) async {
    connection.endOutput()
    let limit = Task {
      try await Task.sleep(for: .seconds(2))
      connection.abort()
    }
    while (try? await socket.read(atMost: 4096)) != nil {}
    limit.cancel()
  }
}
