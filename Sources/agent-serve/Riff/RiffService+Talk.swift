import Core
import Records

/// What is said, and what was said (Agent/Riff/CONTRACT.md 3).
extension RiffService {
  /// How long a reply may take, with the time that it waits for its turn, seconds.
  private static let replySeconds = 120.0

  /// `POST /riff/message`.
  func talk(
    _ head: RequestHead, message body: [UInt8], _ signature: String
  ) async throws -> WholeAnswer {
    let message: RiffMessage
    do throws(RiffMessage.Fault) { message = try RiffMessage(body) } catch {
      return .error(error.reason, status: 400)
    }
    // People say the same thing twice: only its time tells that it is the same message.
    let time = head["x-riff-ts"]
    return await kept.answer("message \(signature) \(time ?? "")", keeps: time != nil) {
      await reply(to: message.text, message.conversation, transcript: nil)
    }
  }

  /// `POST /riff/audio`.
  func talk(
    _ head: RequestHead, clip: [UInt8], _ signature: String
  ) async throws -> WholeAnswer {
    let conversation: RiffMessage.Conversation
    do throws(RiffMessage.Fault) {
      conversation = try RiffMessage.Conversation(head["x-riff-session-id"])
    } catch {
      return .error("bad X-Riff-Session-Id", status: 400)
    }
    if clip.isEmpty { return .emptyClip }
    if parts.gateway == nil { return .noReplies }
    // The signature is that of the clip alone, which may be said elsewhere, too.
    let time = head["x-riff-ts"] ?? ""
    return await kept.answer("audio \(signature) \(conversation.id) \(time)") {
      await hear(head, clip, signature) { text in
        if !text.isEmpty { return await reply(to: text, conversation, transcript: text) }
        return answer(SaidReply(outcome: .reply, text: ""), conversation, transcript: "")
      }
    }
  }

  private func reply(
    to text: String, _ conversation: RiffMessage.Conversation, transcript: String?
  ) async -> WholeAnswer {
    guard let gateway = parts.gateway else { return .noReplies }
    do {
      let reply = try await gateway.wholeReply(
        to: text, SessionKey(conversation.key), id: RandomID.make(),
        seconds: Self.replySeconds)
      return answer(reply, conversation, transcript: transcript)
    } catch let fault as GatewayFault {
      return .error(fault.message, status: 503).retrying(after: 2)
    } catch {
      diagnostics.errorRarely("the store", ErrorText.of(error))
      return .error(ErrorText.of(error), status: 500)
    }
  }

  private func answer(
    _ reply: SaidReply, _ conversation: RiffMessage.Conversation, transcript: String?
  ) -> WholeAnswer {
    switch reply.outcome {
    case .reply:
      .json(
        RecordText().string("reply", reply.text).string("conversation_id", conversation.id)
          .stringOrNull("message_id", reply.id.map { "\($0)" })
          .number("ts_reply", reply.time.epoch).string("transcript", transcript))
    case .aborted: .error("the reply was stopped", status: 503)
    case .failed(let reason, "timeout"): .error(reason, status: 504)
    case .failed(let reason, _): .error(reason, status: 502)
    }
  }

  // MARK: - What was said

  /// `GET /riff/conversation`.
  func conversation(_ query: QueryParameters) async throws -> WholeAnswer {
    let conversation: RiffMessage.Conversation
    do throws(RiffMessage.Fault) {
      conversation = try RiffMessage.Conversation(query["conversation_id"])
    } catch {
      return .error(error.reason, status: 400)
    }
    let page = try await parts.store.chat(
      conversation.key, offset: 0, limit: query.limit(default: 200))
    let messages = page.messages.map { message in
      RecordText().stringOrNull("message_id", message.id.map { "\($0)" })
        .string("role", message.role).string("text", message.text)
        .number("ts", Double(message.time) / 1000)
    }
    return .json(
      RecordText().objects("messages", messages).string("conversation_id", conversation.id))
  }

  /// `GET /riff/sessions`.
  func sessions(_ query: QueryParameters) async throws -> WholeAnswer {
    guard let since = query.epoch("since") else { return .error("bad since", status: 400) }
    // Clients of the gateway may name theirs as they like.
    let rows = try await parts.store.chatSessions(
      limit: query.limit(default: 100), since: since,
      where: { RiffMessage.Conversation(key: $0) != nil })
    let sessions = rows.map { row in
      RecordText().string("conversation_id", RiffMessage.Conversation(key: row.key)?.id ?? "")
        .number("ts", Double(row.updated) / 1000).string("last", row.last ?? "")
    }
    return .json(RecordText().objects("sessions", sessions))
  }
}

extension WholeAnswer {
  fileprivate static let noReplies = error("no reply command", status: 503)
}

extension QueryParameters {
  /// How many rows are wanted, 1 to 1000.
  fileprivate func limit(default fallback: Int) -> Int {
    word("limit") == nil ? fallback : integer("limit", default: fallback, in: 1...1000)
  }

  /// An instant in seconds since 1970, as milliseconds; 0 where there is none.
  ///
  /// - Returns: nil for what is no such number.
  func epoch(_ name: String) -> Int? {
    guard let text = self[name], !text.isEmpty else { return 0 }
    guard let seconds = JavaScriptNumber.parse(text), abs(seconds) < 1e12 else { return nil }
    return Int((seconds * 1000).rounded())
  }
}
