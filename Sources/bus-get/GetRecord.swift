import Bus
import Core
import Records

struct GetRecord {
  let message: BusMessage
  let place: BusPlace

  var fault: String? {
    message.withBytes { bytes in
      if bytes.contains(10) { return "more than one line" }
      do throws(ScanFault) {
        _ = try ScanMembers(bytes)
        try ScanValidator.validate(bytes)
        return nil
      } catch {
        return error.reason
      }
    }
  }

  /// What the server tells equal ones by; nil for nothing.
  private var id: String? { message.header(BusMessage.idHeader).flatMap { $0.isEmpty ? nil : $0 } }

  /// Adds the line that stands for it, with its line feed.
  func add(to output: inout ByteQueue, isWrapped: Bool, isRecord: Bool, isShown: Bool) {
    // With its line feed, so that it grows once.
    _ = output.room(message.count + 1)
    if isRecord, !isWrapped, !isShown {
      message.withBytes { output.append($0) }
      return output.append([10])
    }
    var line = ByteBuffer()
    message.withBytes { bytes in
      if isRecord { line.append(bytes) } else { JSONQuote.append(bytes, to: &line) }
    }
    if isWrapped {
      let data = Array(line.bytes)
      line.removeAll()
      let record = RecordText(.busMessage).string("stream", place.stream)
        .number("seq", place.sequence).string("subject", message.subject).string("id", id)
        .time(place.time)
        .bool("redelivered", place.deliveries > 1).bytes
      // Its own bytes, whatever they are.
      (record.dropLast() + Array(",\"data\":".utf8) + data + [0x7d]).withUnsafeBytes {
        line.append($0)
      }
    }
    if isShown {
      var shown = ByteBuffer()
      JSONQuote.appendVisible(json: line.bytes, to: &shown)
      output.append(shown.bytes)
    } else {
      output.append(line.bytes)
    }
    output.append([10])
  }
}
