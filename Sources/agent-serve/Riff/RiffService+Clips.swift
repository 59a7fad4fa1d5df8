import Core
import Records

/// What is said in clips (Agent/Riff/CONTRACT.md 2).
extension RiffService {
  /// `POST /riff/transcribe-only`.
  func transcribe(
    _ head: RequestHead, _ clip: [UInt8], _ signature: String
  ) async -> WholeAnswer {
    await hear(head, clip, signature) { text in
      .json(RecordText().string("transcript", text))
    }
  }

  /// Has a clip heard, unless it was before: no two recordings are alike, the same bytes are
  /// the same one.
  ///
  /// - Parameter answer: makes the answer of what was said.
  func hear(
    _ head: RequestHead, _ clip: [UInt8], _ signature: String,
    _ answer: @Sendable (String) async -> WholeAnswer
  ) async -> WholeAnswer {
    if clip.isEmpty { return .emptyClip }
    guard let transcriber = parts.transcriber else {
      return .error("no transcriber", status: 503)
    }
    let format = head["x-riff-audio-format"]
    let outcome = await heard.answer(signature) {
      let outcome = await transcriber.hear(clip, format: format)
      if case .failed(let reason) = outcome { diagnostics.errorRarely("transcriber", reason) }
      return outcome
    }
    switch outcome {
    case .text(let text): return await answer(text)
    case .busy: return .busy
    case .failed(let reason): return .error("the transcriber failed: \(reason)", status: 502)
    }
  }
}

extension WholeAnswer {
  /// A body of no bytes.
  static let emptyClip = error("empty clip", status: 400)
}
