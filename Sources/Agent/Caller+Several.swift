import Core
import Web

extension Caller {
  /// The most requests that are under way at a time.
  private static let atOnce = 6

  /// Asks several things with GET, some at a time, and hands on each answer in
  /// the order of the questions.
  ///
  /// - Parameters:
  ///   - paths: behind the base, query included.
  ///   - take: given the place among the paths and the answer; false ends it, and
  ///     what is under way is given up.
  /// - Throws: `CallFailure` for anything but 2xx.
  public func several(
    _ paths: [String], take: (Int, Reply) throws(CallFailure) -> Bool
  ) throws(CallFailure) {
    var asked: [(fetch: Fetch, start: Double)] = []
    var ends: [Int: FetchEnd] = [:]
    defer { for each in asked { each.fetch.cancel() } }
    for index in paths.indices {
      while asked.count < min(index + Self.atOnce, paths.count) {
        let request: Request
        do throws(SettingsError) {
          request = try backend.request(paths[asked.count])
        } catch {
          throw CallFailure(error)
        }
        diagnostics.note("GET \(request.address.display)")
        let number = asked.count
        let start = Clock.monotonic
        let fetch = Fetch(client, request, now: start, silence: .infinity) {
          ends[number] = $0
        }
        asked.append((fetch, start))
      }
      let place = place(paths[index])
      let start = asked[index].start
      let limit = maxTime == nil ? start + Self.requestTime : deadline
      while ends[index] == nil {
        client.perform()
        if ends[index] != nil { break }
        let now = Clock.monotonic
        if now >= limit { throw late(place) }
        client.wait(seconds: min(limit - now, 60))
      }
      let reply = try reply(ends.removeValue(forKey: index), place, since: start)
      diagnostics.note(
        "\(reply.head.summary), \(reply.body.count) bytes in \(Latency.text(reply.seconds)) ms")
      if let problem = backend.problem(of: reply.head, reply.body) {
        throw CallFailure(place, problem.line, problem.status)
      }
      if !(try take(index, reply)) { return }
    }
  }
}
