import FlyingSocks
import Foundation

/// One client's connection, request by request.
struct Session {
  /// What requests work on.
  let backend: ServedBackend
  /// The connection; closed by `run`.
  let socket: AsyncSocket
  private let connection: Connection

  /// - Parameters:
  ///   - backend: what requests work on.
  ///   - socket: the connection.
  init(backend: ServedBackend, socket: AsyncSocket) {
    self.backend = backend
    self.socket = socket
    connection = Connection(descriptor: socket.socket.file.rawValue)
    connection.prepare()
    connection.expect(.first)
    backend.connections.add(connection)
  }

  /// Serves until the client or a fault ends the connection.
  func run() async {
    var reader = RequestReader { [socket, connection] in
      do {
        let bytes = try await socket.read(atMost: 4096)
        connection.noteInput()
        return bytes
      } catch SocketError.disconnected {
        return []
      }
    }
    do {
      while let head = try await reader.head() {
        guard let ticket = backend.tickets.take() else { break }
        guard try await serve(head, &reader, connection, ticket) else { break }
        connection.expect(reader.hasMore ? .head : .next)
      }
    } catch let fault as RequestFault {
      await refuse(connection.isOverdue ? .late : fault)
    } catch {
      // The client went away, was cut off, or left its body unfinished.
      if connection.isOverdue { await refuse(.late) }
    }
    // After the close the number may belong to another connection.
    connection.release()
    try? socket.close()
    backend.connections.remove(connection)
  }

  /// - Returns: whether the connection goes on.
  private func serve(
    _ head: RequestHead, _ reader: inout RequestReader, _ connection: Connection, _ ticket: Ticket
  ) async throws -> Bool {
    connection.expect(.body)
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
    connection.expect(nil)
    if head.method == "GET", let feed = backend.feed(head.path), backend.refusal(of: head) == nil {
      withExtendedLifetime(ticket) {}
      try await stream(feed, head, connection)
      return false
    }
    var answer = await backend.answer(head, body: body)
    let isDrained = body != .tooLarge(isDrained: false)
    answer.closes = !head.keepsAlive || !isDrained
    try await send(answer.bytes(isHead: head.method == "HEAD"))
    withExtendedLifetime(ticket) {}
    if !isDrained { await linger() }
    return !answer.closes
  }

  private func isTooLong(_ framing: RequestHead.Framing) -> Bool {
    if case .length(let length) = framing { return length > RequestReader.bodyLimit }
    return false
  }

  /// Sends an answer; a client that stops reading it is cut off after a while.
  private func send(_ bytes: [UInt8]) async throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      connection.expect(.room)
      try await socket.write(Data(rest.prefix(64 * 1024)))
      rest = rest.dropFirst(64 * 1024)
    }
  }

  /// Answers what is no request; nothing behind it is read as one.
  private func refuse(_ fault: RequestFault) async {
    var answer = fault.answer
    answer.closes = true
    try? await send(answer.bytes(isHead: false))
    await linger()
  }

  /// Reads what is still under way for a moment: closing over unread bytes would
  /// reset the connection, and the client might never see the answer.
  private func linger() async {
    connection.endOutput()
    let limit = Task {
      try await Task.sleep(for: .seconds(2))
      connection.abort()
    }
    while (try? await socket.read(atMost: 4096)) != nil {}
    limit.cancel()
  }
}
