import Core
import agent_approve
import agent_call
import agent_chat
import agent_notify
import agent_tail
import clip_transcribe
import mem_search
import outbox
import pds_record
import reply_narrate
import sse_tail
import voice_state
import ws_tail

@main
enum WebProgram {
  static func main() {
    ProgramSet(
      "agentutils-web",
      [
        "sse-tail": sseTailMain,
        "ws-tail": wsTailMain,
        "agent-tail": agentTailMain,
        "agent-chat": agentChatMain,
        "agent-notify": agentNotifyMain,
        "voice-state": voiceStateMain,
        "agent-call": agentCallMain,
        "agent-approve": agentApproveMain,
        "mem-search": memSearchMain,
        "clip-transcribe": clipTranscribeMain,
        "reply-narrate": replyNarrateMain,
        "outbox": outboxMain,
        "pds-record": pdsRecordMain,
      ]
    ).run()
  }
}
