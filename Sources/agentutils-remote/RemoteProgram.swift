import Core
import bus_get
import bus_put
import mail_triage
import share_inbox
import tmux_attach
import transcript_tail
import voice_token

/// The commands that speak SSH, or to a bus, and the one whose charsets are files of the system.
@main
enum RemoteProgram {
  static func main() {
    ProgramSet(
      "agentutils-remote",
      [
        "tmux-attach": tmuxAttachMain,
        "transcript-tail": transcriptTailMain,
        "share-inbox": shareInboxMain,
        "bus-put": busPutMain,
        "bus-get": busGetMain,
        "mail-triage": mailTriageMain,
        "voice-token": voiceTokenMain,
      ]
    ).run()
  }
}
