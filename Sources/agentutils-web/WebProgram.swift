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

/// The commands that speak HTTP.
@main
enum WebProgram {
  static func main() {
    ProgramSet(
      "agentutils-web",
      [
        "sse-tail": SseTail.main,
        "ws-tail": WsTail.main,
        "agent-tail": AgentTail.main,
        "agent-chat": AgentChat.main,
        "agent-notify": AgentNotify.main,
        "voice-state": VoiceStateCommand.main,
        "agent-call": AgentCall.main,
        "agent-approve": AgentApprove.main,
        "mem-search": MemSearch.main,
        "clip-transcribe": ClipTranscribe.main,
        "reply-narrate": ReplyNarrate.main,
        "outbox": OutboxCommand.main,
        "pds-record": PDSRecord.main,
      ]
    ).run()
  }
}
