import Bus
import Core
import Records

/// How others judge records: a command by its status, or whoever writes to standard input.
extension GetLoop {
  /// So many that were given back are remembered.
  private static let mostReturned = 100_000

  /// Gives records to the command, one after the other.
  func work() throws(ChildProcess.Failure) {
    job?.feed()
    if let job, let verdict = job.verdict {
      self.job = nil
      if case .never = verdict {} else { printed += 1 }
      settle(job.record, verdict, "the command ended with")
    }
    guard job == nil, !hand.isEmpty, let command = options.command else { return }
    let record = hand.removeFirst()
    if let fault = record.fault {
      name(record, fault)
      acknowledge(record, "+TERM")
    } else {
      job = try GetJob(command, record, isWrapped: options.isWrapped)
      job?.feed()
    }
  }

  /// Takes what standard input says of the records that were printed; its end ends all.
  func judge() {
    if case .misled = end { return }
    do throws(GetVerdicts.Fault) {
      while let verdict = try verdicts.next() {
        guard !unjudged.isEmpty else { return mislead("a status, but no record is left") }
        settle(unjudged.removeFirst(), verdict, "refused with")
      }
    } catch {
      return mislead("line \(error.line): not a status from 0 to 255")
    }
    if verdicts.hasEnded { end = end ?? .done }
  }

  private func mislead(_ reason: String) {
    diagnostics.error("standard input", reason)
    end = .misled
  }

  private func settle(_ record: GetRecord, _ verdict: GetVerdict, _ words: String) {
    switch verdict {
    case .done: acknowledge(record, "+ACK")
    case .later: acknowledge(record, "-NAK {\"delay\": \(Int(consumer.ackWait * 1e9))}")
    case .never(let status):
      let place = record.place
      faults.event("\(place.stream) seq \(place.sequence)", "\(words) status \(status)")
      acknowledge(record, "+TERM")
    }
  }

  /// A line was written whole.
  func wrote(_ record: GetRecord, bytes: Int) {
    state?.wrote(record.place.sequence, bytes: bytes)
    if bytes > 0 { printed += 1 }
    if bytes > 0, options.confirms {
      unjudged.append(record)
    } else {
      acknowledge(record, bytes > 0 ? "+ACK" : "+TERM")
    }
  }

  /// Names what is no record.
  func name(_ record: GetRecord, _ fault: String) {
    let place = record.place
    faults.event(
      "\(place.stream) seq \(place.sequence) on \(record.message.subject)", "not a record: \(fault)"
    )
    pull.wantsOneMore()
  }

  /// Tells the server what becomes of a record, now or when the link is back.
  func acknowledge(_ record: GetRecord, _ text: String) {
    guard !consumer.isOwn else { return }
    if text.hasPrefix("-NAK") {
      if returned.count < Self.mostReturned { returned.insert(record.place.sequence) }
    } else {
      returned.remove(record.place.sequence)
    }
    if !stream.link.tell(record.message.reply, text) {
      unsent.append((record.message.reply, text))
    }
  }
}
