import CLibc
import Core

@Poller
final class Listener {
  nonisolated let port: UInt16
  private let socket: Socket
  private let service: any RequestService

  init(_ address: ListenAddress, _ service: any RequestService) throws(Failure) {
    let (descriptor, port) = try address.listen()
    do throws(Socket.Failure) { socket = try Socket(descriptor) } catch {
      throw Failure(code: systemError)
    }
    (self.port, self.service) = (port, service)
    Poller.start { await self.run() }
  }

  func close() { socket.abort() }

  private func run() async {
    let (connections, diagnostics) = (service.serving.connections, service.serving.diagnostics)
    while true {
      do throws(Socket.Failure) {
        // One at a time, so that whoever comes now waits until a client that is silent has
        // given way.
        while connections.areTooMany {
          diagnostics.errorRarely(
            "accept", "too many open files; the clients that are silent longest give way")
          connections.dropOldest()
          await connections.waitForRoom()
        }
        let client = try await socket.accept()
        connections.add(client)
        Poller.start { await Session.serve(client, self.service) }
      } catch {
        guard case .system(let code) = error else { break }
        // No descriptor is left, or no memory. Nothing tells that there is one again but who
        // closes one.
        diagnostics.errorRarely("accept", systemReason(code))
        connections.dropOldest(atLeast: 1)
        await connections.waitForRoom()
      }
    }
    socket.close()
  }
}
