import Core

/// A look at the host's sessions, from which the next one goes on.
public struct SessionLook: Sendable {
  /// The sessions, in tmux's order.
  public let sessions: [TmuxSession]
  /// Stands for the list; empty where the host has no server, and so nothing to wait for.
  let mark: String
  /// Whether the next look comes back at once.
  public var isFleeting: Bool { mark.isEmpty }
}

extension RemoteTmux {
  /// How long an idle agent is waited for unless somebody says more or less, seconds.
  public static let usualIdleWait = 600.0

  /// Seconds that a look waits for a change: the link is not left alone for longer.
  private static let patience = 4

  /// The sessions, as soon as something differs from the last look, or after some seconds.
  ///
  /// agent-state(1) wakes whoever waits, so a state is told at once; all else is looked for
  /// every second, on the host.
  ///
  /// - Parameters:
  ///   - last: nil does not wait.
  ///   - seconds: the most that is waited, about.
  public func sessions(
    after last: SessionLook?, atMost seconds: Double = .infinity
  ) throws(HostFailure) -> SessionLook {
    let patience = Int(min(max(seconds.rounded(.up), 1), Double(Self.patience)))
    let request = ControlRequest(
      TmuxScript.look,
      [label, SessionRows.format, SessionRows.stillFormat, last?.mark ?? "", String(patience)])
    let answer: ControlAnswer
    do throws(HostFailure) {
      answer = try self.answer(request, session: nil, more: Double(patience) + 1)
    } catch .refused(let text) where HostFailure.isEmptyServer(text) {
      return SessionLook(sessions: [], mark: "")
    }
    let line = answer.output.firstIndex(of: 10) ?? answer.output.endIndex
    let rows = ControlAnswer(status: 0, output: Array(answer.output[line...].dropFirst()))
    return SessionLook(
      sessions: try Self.rows(rows), mark: String(decoding: answer.output[..<line], as: UTF8.self))
  }

  /// Throws `HostFailure.busy` after so many seconds, `.stateUnknown` when nothing tells.
  func waitUntilIdle(
    _ session: String, atMost seconds: Double
  ) throws(HostFailure) -> String {
    let end = Clock.monotonic + seconds
    var last: SessionLook?
    while true {
      let look = try sessions(after: last, atMost: end - Clock.monotonic)
      guard
        let found = look.sessions.first(where: { $0.name == session && $0.place == .here })
      else {
        throw .noSession(session)
      }
      let (pane, state) = try found.agent()
      switch state.kind {
      case .idle where state.isByTitle: throw .stateUnknown(session)
      case .idle: return pane
      case .unknown: throw .stateUnknown(session)
      case .waiting, .working: break
      }
      if Clock.monotonic >= end {
        throw .busy(session, state: state.kind.rawValue)
      }
      last = look
    }
  }
}

extension TmuxSession {
  func agent() throws(HostFailure) -> (pane: String, state: AgentState) {
    switch agentPane {
    case .pane(let id, let state): return (id, state)
    case .gone: throw .noAgentPane(name, why: "the pane in which its agent was started is gone")
    case .unknown(let panes):
      throw .noAgentPane(name, why: "in which of its \(panes) panes the agent is, nothing says")
    }
  }
}

extension TmuxScript {
  /// `$1` is the list's format, `$2` the one that is compared, `$3` the mark of the last
  /// list, `$4` how many seconds to wait. The answer is the mark and the list.
  ///
  /// A timer wakes like a change does: tmux would keep what waits for ever of a client that
  /// is killed. So does Claude Code: its files are looked at more often than tmux is asked; with
  /// inotifywait(1) a change of one is told at once.
  static let look =
    opening + looking + """
      wake() {
        for n in 1 2 3; do
          # 0 is a change, 2 that there was none in the time.
          case $([ -z "$notes" ] || noted >&2; echo $?)$notes in
          0?* | 2?*) n=3 ;;
          *)
            sleep 0.3 || {
              sleep 1
              break
            }
            ;;
          esac
          [ "$(claude_rows)" = "$had" ] || break
          [ "$n" != 3 ] || break
        done
        t wait-for -S agent-state
      }
      noted() (
        IFS='|'
        inotifywait -qq -t 1 -e close_write -e create -e delete $notes
      )
      claude_folders
      notes=
      if command -v inotifywait >/dev/null 2>&1; then
        notes=$(printf '%s\\n' "$folders" | while IFS= read -r d; do
          [ ! -d "$d/sessions" ] || printf '%s|' "$d/sessions"
        done)
      fi
      agent_find
      sweep
      had=$(claude_rows)
      seen=$(look "$2")
      mark=$(printf '%s' "$seen" | cksum)
      if [ "$mark" = "$3" ]; then
        i=0
        now=$seen
        while [ "$now" = "$seen" ] && [ "$i" -lt "$4" ]; do
          wake >/dev/null 2>&1 &
          t wait-for agent-state >/dev/null 2>&1 || wait "$!"
          kill "$!" 2>/dev/null
          sweep
          had=$(claude_rows)
          now=$(look "$2")
          i=$((i + 1))
        done
        mark=$(printf '%s' "$now" | cksum)
      fi
      say=$(look "$1") || fail "$say"
      printf '%s\n%s\n' "$mark" "$say"
      """
}
