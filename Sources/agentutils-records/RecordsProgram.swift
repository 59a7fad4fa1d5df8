import Core
import action_filter
import action_format
import agent_setup
import agent_status
import mail_draft
import notify_route
import script_options
import task_format
import turn_fold
import turn_format

/// The commands that read and write records, and load no library.
@main
enum RecordsProgram {
  static func main() {
    ProgramSet(
      "agentutils-records",
      [
        "action-filter": ActionFilter.main,
        "action-format": ActionFormat.main,
        "turn-fold": TurnFoldCommand.main,
        "turn-format": TurnFormat.main,
        "notify-route": NotifyRoute.main,
        "task-format": TaskFormat.main,
        "script-options": ScriptOptions.main,
        "agent-status": AgentStatus.main,
        "agent-setup": AgentSetup.main,
        "mail-draft": MailDraft.main,
      ]
    ).run()
  }
}
