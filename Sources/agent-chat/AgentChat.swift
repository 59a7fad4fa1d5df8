import Agent
import CLibc
import Core
import Screen
import Web

/// agent-chat(1): says something to an agent and prints its answer.
public func agentChatMain() { ChatOptions.table.run(ChatOptions(), verbose: \.isVerbose, run) }

private func run(_ options: ChatOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  try options.checkTerminals()
  let (line, profile, client) = try line(options, diagnostics)
  if options.key != nil, !line.knowsKeys {
    throw Failure(
      "--key", "\(line.place) cannot tell a second try from a new message")
  }
  if options.isAgain, !line.dropsRepeats {
    throw Failure("--again", "\(line.place) takes the same words as often as they come")
  }
  if let part = options.parts.first(where: { !line.takes.contains($0) }) {
    throw Failure("--\(part.rawValue)", "\(line.place) cannot be told that")
  }
  let loop = ChatLoop(
    line, profile, client, view: view(options), options: options, diagnostics: diagnostics)
  switch options.mode {
  case .message:
    let question = try options.question()
    let speech = try options.speech.map { try SpeechFile($0) }
    EndSignals.watch()
    if options.isQueued { return try loop.queue(question) }
    diagnostics.note("key \(question.key)")
    return try loop.answer(question, speech)
  case .interactive:
    EndSignals.watch()
    return try Conversation(loop, options: options, diagnostics: diagnostics).run()
  case .agents, .threads, .history, .abort:
    EndSignals.watch()
    return try loop.printList()
  }
}

private func line(
  _ options: ChatOptions, _ diagnostics: Diagnostics
) throws -> (any ChatLine, Settings.Profile, WebClient) {
  let settings = try Settings()
  let named = try? settings.profile(
    settings.profileOrHere(options.access.profile, diagnostics))
  if let profile = named, let name = profile.host {
    try profile.require(.chat, for: diagnostics.program)
    var wishes = options.wishes
    // What it asks meanwhile is answered in the same place.
    if options.mode == .interactive { wishes.waits = true }
    let line = try profile.kind.backend.chat(at: HostPlace(name), wishes)
    return (line, profile, try options.access.client(diagnostics.program))
  }
  let agent = try AgentAccess(
    options.access, for: .chat, maxTime: options.reconnect.maxTime, diagnostics: diagnostics)
  let line = try agent.profile.kind.backend.chat(with: agent, options.wishes)
  return (line, agent.profile, agent.client)
}

private func view(_ options: ChatOptions) -> ChatView {
  let isTerminal = isatty(1) == 1
  if options.form == .json { return RecordView(isTerminal: isTerminal) }
  if !isTerminal { return ChatView() }
  return ScreenView(
    depth: ColourDepth.detect(
      options.look.colour, isTerminal: true, environment: Process.environment))
}
