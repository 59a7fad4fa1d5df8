import Agent
import Core
import Records
import Screen

/// The prompts that the models were last given: how large, how old, made of
/// what. Their text is private and shown by `--prompt` alone.
struct PromptsPanel: Panel {
  static let name = "prompts", title = "Prompts"
  static let leastWidth = 80

  private let prompts: [(name: String, prompt: VoicePrompt)], now: Now

  init?(_ session: VoiceSession, at now: Now) {
    prompts = PromptName.allCases.dropFirst().compactMap { name in
      session.prompt(name).map { (name.rawValue, $0) }
    }
    self.now = now
    if prompts.isEmpty { return nil }
  }

  var note: Line {
    Amount.bytes(prompts.reduce(0) { $0 + $1.prompt.byteCount }).dim
  }

  @Lines func lines(width: Int) -> [Line] {
    let isWide = width >= 84
    let most = Double(prompts.map(\.prompt.byteCount).max() ?? 0)
    let colour = Style(Palette.colour(of: .llm))
    let rows = Grid.lines([.left, .right, .left, .right, .giving], width: width) {
      prompts.map { name, prompt in
        let size = Double(prompt.byteCount)
        return [
          Line(name), Line(Amount.bytes(prompt.byteCount)),
          Bar.gauge(size, of: most, cells: width >= 48 ? 12 : 6, colour),
          (Age.text(prompt.updatedAt, at: now) ?? "").dim, (isWide ? parts(prompt) : "").dim,
        ]
      }
    }
    for (row, prompt) in zip(rows, prompts) {
      row
      let parts = parts(prompt.prompt)
      if !isWide, !parts.isEmpty {
        PanelText.paragraph(parts, .dim, lead: Line("  "), width: width, most: 2)
      }
    }
  }

  /// What a prompt is made of: `system 1.2 KB, user 84 B, 2 follow-ups, 3 tools`.
  private func parts(_ prompt: VoicePrompt) -> String {
    let follow = max(prompt.followupSteps ?? 0, prompt.followupUserPrompts.count)
    let tools = prompt.tools.count
    let tiers = prompt.promptTiers
    let parts = [
      prompt.systemPrompt.isEmpty ? nil : "system \(Amount.bytes(prompt.systemPrompt.byteCount))",
      prompt.initialUserPrompt.isEmpty
        ? nil : "user \(Amount.bytes(prompt.initialUserPrompt.byteCount))",
      follow > 0 ? PanelText.count(follow, "follow-up") : nil,
      tools > 0 ? PanelText.count(tools, "tool") : nil,
      tiers.isEmpty ? nil : "\(tiers.count { $0 }) of \(tiers.count) tiers",
    ]
    return parts.compactMap { $0 }.joined(separator: ", ")
  }
}

/// Which prompt `--prompt` asks for, in the order in which a turn meets them.
enum PromptName: String, CaseIterable {
  /// Another word for the standing instructions.
  case system
  case instructions, classifier, generation, bridge
}

extension VoiceSession {
  func prompt(_ name: PromptName) -> VoicePrompt? {
    switch name {
    case .system, .instructions: promptState?.instructions
    case .classifier: promptState?.classifier
    case .generation: promptState?.generation
    case .bridge: promptState?.bridge
    }
  }
}

extension VoicePrompt {
  /// All texts of a prompt as they were sent, each below a line with its name and
  /// size, ending with a line end; tools by name and description.
  ///
  /// The text is raw: for a terminal it must go through `Plain.lines`.
  var whole: String {
    var out = ""
    func section(_ title: String, _ text: VoiceText) {
      guard !text.isEmpty else { return }
      let whole = text.whole
      out += "== \(title) (\(Amount.bytes(text.byteCount)))\n\(whole)"
      if !whole.hasSuffix("\n") { out += "\n" }
    }
    section("system", systemPrompt)
    section("user", initialUserPrompt)
    for (index, text) in followupUserPrompts.enumerated() {
      section("follow-up \(index + 1)", text)
    }
    if !tools.isEmpty {
      out += "== tools (\(tools.count))\n"
      for tool in tools {
        out += tool.name ?? "(no name)"
        if let description = tool.description { out += ": \(description)" }
        out += "\n"
      }
    }
    return out
  }
}
