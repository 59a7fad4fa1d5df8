import Core
import action_filter
import action_format
import agent_plot
import agent_setup
import agent_status
import agentutils
import mail_draft
import script_options
import task
import turn_fold
import turn_format

/// The commands that read and write records, and load no library.
@main
enum RecordsProgram {
  static func main() {
    ProgramSet(
      "agentutils-records",
      [
        "action-filter": actionFilterMain,
        "action-format": actionFormatMain,
        "turn-fold": turnFoldMain,
        "turn-format": turnFormatMain,
        "task": taskMain,
        "script-options": scriptOptionsMain,
        "agent-status": agentStatusMain,
        "agent-setup": agentSetupMain,
        "mail-draft": mailDraftMain,
        "agent-plot": agentPlotMain,
        "agentutils": agentutilsMain,
      ]
    ).run()
  }
}
