import Agent
import CLibc
import Core
import Screen
import Web

extension Memory {
  /// `mem-search --edit`: fetches the fact, changes it, looks whether somebody else
  /// changed it meanwhile, and sends it whole.
  func edit() throws -> ExitStatus {
    let id = try Self.checked(options.id)
    if !options.hasChange, !Confirmation.canAsk, !(options.isSure && Editor.isNamed) {
      throw Failure(
        "--edit", "no terminal to ask at: give --fact, --subject or --type",
        .failure)
    }
    let fetch = try fetch()
    guard let row = try fetch.find([id])[id], let shown = Fact(record: row) else {
      throw Failure("fact \(id)", "not found", .negative)
    }
    let base = FactDraft(shown)
    return options.hasChange
      ? try send(changed(base).tidied(from: base), base, shown, row, fetch)
      : try interactive(base, shown, row, fetch)
  }

  private func changed(_ base: FactDraft) -> FactDraft {
    var draft = base
    if let subject = options.subject { draft.subject = subject }
    if let type = options.types.first { draft.type = type }
    if let fact = options.fact { draft.fact = fact }
    if let confidence = options.confidence { draft.confidence = confidence }
    if let evidence = options.evidence { draft.evidence = evidence }
    return draft
  }

  private func interactive(
    _ base: FactDraft, _ shown: Fact, _ row: [UInt8], _ fetch: FactFetch
  ) throws -> ExitStatus {
    let editor = try Editor(
      FactForm.text(
        base,
        notes: [
          "Fact \(shown.id)\(shown.guildID.map { " of guild \($0)" } ?? ""),"
            + " written \(shown.updatedAt ?? "some time ago").",
          "Lines that begin with # are left out. An empty form changes nothing.",
        ]), name: "mem-search.\(shown.id)")
    let draft: FactDraft?
    do {
      draft = try written(in: editor, base)
    } catch {
      editor.remove()
      throw error
    }
    guard let draft else {
      editor.remove()
      diagnostics.say("fact \(shown.id): nothing was sent")
      return .negative
    }
    // A person's words are not to be lost to somebody else's, nor to the network.
    var isSent = false
    defer {
      if isSent {
        editor.remove()
      } else {
        diagnostics.say("the form is kept in \(editor.path)")
      }
    }
    let status = try send(draft, base, shown, row, fetch)
    isSent = status == .success
    return status
  }

  private func written(in editor: Editor, _ base: FactDraft) throws -> FactDraft? {
    while true {
      let bytes = try editor.edit()
      do throws(UsageError) {
        guard let draft = try FactForm.draft(bytes, base: base)?.tidied(from: base) else {
          return nil
        }
        if let fault = draft.fault, draft != base { throw UsageError(fault) }
        return draft
      } catch {
        guard Confirmation.canAsk else { throw Failure("form", error.problem, .failure) }
        diagnostics.error("form", error.problem)
        if !Confirmation.isYes("Edit it again?") { return nil }
      }
    }
  }

  private func send(
    _ draft: FactDraft, _ base: FactDraft, _ shown: Fact, _ row: [UInt8], _ fetch: FactFetch
  ) throws -> ExitStatus {
    let what = "fact \(shown.id)"
    if draft == base {
      tellPerson("\(what): nothing changed")
      try output.facts([row])
      return .success
    }
    if let fault = draft.fault { throw Failure(what, fault, .failure) }
    if !options.hasChange || isatty(2) == 1 {
      show { FactForm.difference(base, draft, width: $0) }
    }
    if !options.hasChange, !options.isSure, !Confirmation.isYes("Change \(what)?") {
      diagnostics.say("\(what): nothing was sent")
      return .negative
    }
    // Where nobody took time to think it was seen just now.
    if !options.hasChange, !(try isStill(shown, base, row, fetch)) { return .negative }
    let path = ClankyPath.fact(shown.id)
    let place = caller.place(path)
    let reply = try caller.call(
      path, method: "PUT", body: draft.body(guild: shown.guildID ?? fetch.guild))
    guard case .record(let record) = try Answer(reply, place: place),
      let stored = FactWire.stored(record)
    else { throw Failure(place, "the answer has no fact", .failure) }
    try output.facts([stored])
    if let kept = Fact(record: stored).map(FactDraft.init), kept != draft {
      for name in FactDraft.names where kept[name] != draft[name] {
        if name == "confidence", Double(kept[name]) == Double(draft[name]) { continue }
        diagnostics.error(what, "the backend keeps another \(name) than was sent")
      }
    }
    return .success
  }

  /// The backend has no way to say "only if it is still what I saw".
  private func isStill(
    _ shown: Fact, _ base: FactDraft, _ row: [UInt8], _ fetch: FactFetch
  ) throws(Failure) -> Bool {
    let what = "fact \(shown.id)"
    guard let now = try fetch.again([shown.id: row])[shown.id].flatMap({ Fact(record: $0) })
    else { throw Failure(what, "deleted meanwhile; nothing was sent", .negative) }
    if now.isSameVersion(as: shown) { return true }
    diagnostics.error(what, "changed meanwhile; nothing was sent")
    show { FactForm.difference(base, FactDraft(now), width: $0) }
    return false
  }
}
