import Bus
import Core

/// What comes from the server: answers about the consumer, and records.
extension GetLoop {
  /// How long nothing is asked for where the server refused it, seconds.
  private static let refusalRest = 0.5

  func answers(now: Double) throws(BusFailure) {
    while let arrival = stream.link.answer() {
      guard case .message(let message) = arrival else { continue }
      if message.token == "e" {
        let answer = BusAnswer(message)
        if answer.pending == 0 {
          emptyLooks += 1
          if !stream.hasCopies || emptyLooks >= Self.mostLooks { isAtEnd = true }
        }
        if isAtEnd { looks += 1 }
        unacknowledged = max(0, (answer.unacknowledged ?? 0) - inHand.count)
        continue
      }
      if !consumer.isOwn, highest > 0 { consumer.goesOnAt = firstUnsettled }
      let (wasThere, isFirst) = (consumer.name != nil, consumer.pendingAtStart == nil)
      try consumer.take(message, now: now)
      guard !wasThere, consumer.name != nil else { continue }
      cameAt = now
      if isFirst {
        state?.begin(behind: consumer.last)
        if consumer.isOwn, options.endsThere { lastWanted = stream.lastSequence }
      }
      if options.endsThere, consumer.pendingAtStart == 0, isLast(consumer.deliveredAtStart) {
        isAtEnd = true
      }
    }
  }

  /// Takes what came of what was asked for.
  func arrivals(now: Double) {
    while let arrival = stream.link.pulled() {
      guard case .message(let message) = arrival else {
        pull.forget()
        consumer.renew(now: now, "nobody answers for it")
        return
      }
      if let place = BusPlace(message.reply) {
        pull.came(now: now, bytes: message.count)
        guard consumer.takes(place, now: now) else {
          pull.wantsOneMore()
          if consumer.name == nil { pull.forget() }
          continue
        }
        cameAt = now
        if givesAgain(message, place) { continue }
        // What comes again may do so for ever: its acknowledgement does not arrive.
        if place.deliveries == 1 || place.sequence > highest { stream.served() }
        highest = max(highest, place.sequence)
        if let lastWanted, place.sequence >= lastWanted {
          isAtEnd = true
          // What came since is for another run.
          if place.sequence > lastWanted {
            pull.wantsOneMore()
            continue
          }
        }
        if options.endsThere, place.pending == 0, isLast(place.sequence) { isAtEnd = true }
        emptyLooks = 0
        hand.append(GetRecord(message: message, place: place))
        continue
      }
      switch message.serverStatus {
      case 100:
        pull.heard(now: now)
        stream.served()
      case 408, 404:
        pull.end(Int(message.token) ?? 0, now: now)
        stream.served()
      default:
        let words = message.header("Description") ?? ""
        let isTooLarge = words.lowercased().holds("message size")
        pull.end(Int(message.token) ?? 0, now: now, isCut: isTooLarge)
        // Not at once again, what is refused; but what was too large is asked for otherwise.
        if isTooLarge { continue }
        rest(now: now, words)
        // A limit that was passed ends this request alone; anything else all of them, for the
        // consumer or its leader has gone.
        if !words.lowercased().holds("exceeded max") {
          pull.forget()
          consumer.renew(now: now, words)
        }
      }
    }
  }

  /// The first record that is in hand or was given back; else the one behind all that came.
  private var firstUnsettled: Int {
    (inHand.map(\.place.sequence) + returned).min() ?? highest + 1
  }

  /// Whether a record came anew that is in hand: one that a consumer gave that has gone. It is
  /// settled with the new one.
  private func givesAgain(_ message: BusMessage, _ place: BusPlace) -> Bool {
    guard !consumer.isOwn, place.sequence <= highest, place.deliveries == 1 else { return false }
    let record = GetRecord(message: message, place: place)
    guard exchange(record) else { return false }
    pull.wantsOneMore()
    return true
  }

  private func exchange(_ record: GetRecord) -> Bool {
    func swap(_ list: inout [GetRecord]) -> Bool {
      guard let index = list.firstIndex(where: { $0.place.sequence == record.place.sequence })
      else { return false }
      list[index] = record
      return true
    }
    if swap(&hand) || swap(&unjudged) || output.exchange(record) { return true }
    guard job?.record.place.sequence == record.place.sequence else { return false }
    job?.record = record
    return true
  }

  /// Whether nothing comes behind this record where the consumer has nothing left.
  private func isLast(_ sequence: Int) -> Bool {
    !stream.hasCopies || sequence >= stream.lastSequence ?? 0
  }

  private func rest(now: Double, _ words: String) {
    if restUntil == 0 { diagnostics.note("consumer: \(words)") }
    restUntil = now + Self.refusalRest
  }
}
