import Core
import Web

/// Drives a `StreamLink`, which connects again by itself, as a wire that never ends by itself.
final class LinkDriver: StreamHandler {
  private let follow: Follow
  private var end: LinkEnd?

  init(_ follow: Follow) { self.follow = follow }

  func run(_ link: any StreamLink) -> () throws(LinkEnd) -> Never {
    { [self] () throws(LinkEnd) in
      while true {
        let next = link.tick(now: Clock.monotonic)
        if !follow.isOver { follow.lastID = link.lastEventID }
        if let end {
          link.stop()
          throw end
        }
        do throws(LinkEnd) { try follow.wait(until: next) } catch {
          link.stop()
          throw error
        }
      }
    }
  }

  func streamOpened(_ place: String, isFirst: Bool, down: Double?) {
    follow.opened(place, isFirst: isFirst, down: down)
  }

  func streamItem(_ item: StreamItem) {
    guard end == nil else { return }
    do throws(LinkEnd) { try follow.print(item) } catch { end = error }
  }

  func streamMissed(_ numbers: ClosedRange<Int64>) { if end == nil { follow.missed(numbers) } }

  func streamNoted(_ words: String) { follow.note(words) }

  func streamFaulted(_ reason: String) { follow.fault(reason) }

  func streamLost(_ reason: String, wait: Double) { follow.lost(reason, wait: wait) }

  func streamEnded(_ outcome: StreamEnd, at place: String) {
    follow.ended(outcome, at: place)
    end = .over
  }
}
