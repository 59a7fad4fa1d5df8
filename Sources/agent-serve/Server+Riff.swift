import Core

extension Server {
  /// The secret of the voice server, or nil where there is to be none; ends the process when
  /// the file is not good.
  func voiceSecret() -> RiffSecret? {
    guard let file = options.voiceSecretFile else { return nil }
    do throws(SettingsError) {
      let text = try Credentials(folders: Folders()).token(option: file, profile: nil)
      if let secret = text.flatMap({ RiffSecret($0.reveal()) }) { return secret }
      throw SettingsError(file, "the secret is not 64 hexadecimal digits")
    } catch {
      diagnostics.fail(error.message, error.status)
    }
  }

  /// The folder of the transcripts: Claude Code's, unless another one is named.
  private var transcripts: String {
    options.transcripts ?? Folders.join(Process.environment("HOME") ?? "", ".claude/projects")
  }

  /// The voice server, where there is to be one.
  func makeRiff(_ secret: RiffSecret?, _ store: ActionStore, _ gateway: Gateway?) -> RiffService? {
    secret.map { secret in
      let parts = RiffParts(
        store: store, transcriber: options.transcriber.map { Transcriber($0) },
        gateway: options.replyCommand == nil ? nil : gateway,
        narrator: options.speaker.map { Narrator($0, transcripts: transcripts) })
      return RiffService(secret, parts, diagnostics: diagnostics)
    }
  }
}
