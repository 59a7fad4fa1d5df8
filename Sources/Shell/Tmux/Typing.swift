public import Core
import Turns

/// A call that types into a session.
///
/// Copy mode is left and the text typed in one list of tmux commands: nothing can come
/// between the two. With a `mark`, the list also sets the mark on the tmux server, and
/// types only where it is not set: whoever calls again with the same mark, since it
/// never heard the answer, types nothing twice. The mark lives as long as the
/// server's sessions.
public struct Typing: Sendable {
  /// What came of it.
  public enum Outcome: String, Sendable {
    case typed
    /// The mark was there: it had been typed before.
    case already = "ALREADY"
    /// It had been, for a file of this name with other content.
    case other = "OTHER"
    /// Nothing was typed: the session has several panes, or not the agent's.
    case several = "SEVERAL"
    /// Nothing was typed: the agent is no longer idle.
    case busy = "BUSY"
    /// Nothing was typed: the agent asks something, and would take the text for the answer.
    case asking = "ASKS"
    /// Nothing was typed: the agent would run it as a command of the shell.
    case command = "BANG"
  }

  /// The session's name.
  public var session: String
  /// The pane of its agent, `%3`; nil for the only one.
  var pane: String?
  /// What to type; not empty.
  public var text: TypedText
  /// Letters, digits and `_`: the id of a delivery that must happen once.
  public var mark: String?
  /// What the mark is set to: the size of a file that it stands for, as `12B`.
  var markValue = "1"
  /// Seconds after which Return is pressed; nil for no Return.
  public var returnAfter: Double?
  /// Seconds to wait until the agent is idle: only then is anything typed. Nil types at once.
  public var idleWait: Double?
  /// Whether it is the path of a picture: agents attach the picture where the path comes in a paste
  /// of its own, and take it for words where it is typed.
  public var isPicture = false
  /// Whether the agent may run it as a command of the shell, which some do without asking with a line
  /// that begins with `!`.
  public var isCommand = false

  public init(
    session: String, text: TypedText, mark: String? = nil, returnAfter: Double? = nil,
    idleWait: Double? = nil
  ) {
    self.session = session
    self.text = text
    self.mark = mark
    self.returnAfter = returnAfter
    self.idleWait = idleWait
  }

  var target: String { pane ?? TmuxWord.target(session) }

  /// Seconds that the call waits on purpose.
  public var pause: Double { returnAfter ?? 0 }

  func request(label: String, nonce: String) -> ControlRequest {
    let lists = lists(nonce: nonce, isBuffer: isBuffer)
    let hasBuffer = !lists.buffer.isEmpty
    let hasReturn = !lists.pause.isEmpty
    let loading =
      pieces.count > 1 ? Self.loadingPieces : hasBuffer ? Self.loading : Self.nothingToLoad
    // A short call is a quick one: only what this one needs goes to the host.
    return ControlRequest(
      TmuxScript.opening + permission + loading + Self.typing
        + (hasReturn ? Self.entering + (text.isPrompt ? Self.confirming : "") : ""),
      [label, target, lists.typed]
        + (hasBuffer || hasReturn ? [lists.buffer, "\(text.bytes.count)"] : [])
        + (hasReturn ? [lists.pause, lists.entered] : []),
      input: pieces.count > 1
        ? .bytes(TypedText.lines(of: pieces)) : isBuffer ? .bytes(text.bytes) : .none)
  }

  /// Words for sh, behind `TmuxScript.opening`, which take `$1`, the target, away: `permit LIST` sets
  /// `list` to what tmux runs, and `withheld` to why nothing may be typed there now.
  ///
  /// What Claude Code tells is truer than what its hooks said.
  var permission: String {
    ClaudeStatus.script + ClaudeStatus.stateScript
      + """
      target=$1
      shift
      claude_folders
      permit() {
        list=$1 withheld= stands= word='\(Self.isKnown)'
        [ -n "$(claude_rows)" ] || return 0
        process=$(x display-message -p -t "$target" '#{pane_pid}' 2>/dev/null)
        stands=$(claude_state "$process")
        case $stands in
        ?*) withheld=\(text.isCommand && !isCommand ? Self.bang : "") ;;
        esac
        case $stands:$1 in
        idle:*"$word"* | busy:*"$word"*) list=${1%%"$word"*}1${1#*"$word"} ;;
        esac
        case $stands in
        waiting) withheld=\(Self.asks) ;;
        busy) withheld=\(idleWait == nil ? "$withheld" : Self.busy) ;;
        esac
      }

      """
  }

  /// Whether the text goes in several pastes to who takes no long one for a person's words.
  var isInPieces = false

  /// The pastes in which the text is typed: no more than a command of tmux has room for.
  var pieces: [ArraySlice<UInt8>] {
    isInPieces ? text.pieces(atMost: 12_000 / (45 + target.utf8.count)) : [text.bytes[...]]
  }

  /// What is exchanged for 1 where the agent itself says how it stands, and that is no hindrance.
  private static let isKnown = "#{@agent_is_known}"

  /// Whether the text goes over standard input: it is not to be read in the command lines of
  /// the host (`ps`) for as long as the pause before Return is.
  private var isBuffer: Bool { !text.isArgument || pause > 0 || isInPieces }

  /// `isBuffer`: nil where the text has to be in one; no Return: the argument of sleep is empty.
  func lists(
    nonce: String, isBuffer: Bool? = nil
  ) -> (typed: String, entered: String, buffer: String, pause: String) {
    let hasPieces = isBuffer != nil && pieces.count > 1
    let isBuffer = isPicture || isBuffer ?? !text.isArgument
    let buffer = isBuffer ? (hasPieces ? "au-" + nonce.prefix(12) : "agentutils-" + nonce) : ""
    let keys: [[String]]
    if !isBuffer {
      keys = [["send-keys", "-l", "-t", target, "--", String(decoding: text.bytes, as: UTF8.self)]]
    } else {
      let flags = text.isPaste || isInPieces || isPicture ? "-drpb" : "-drb"
      let buffers = hasPieces ? pieces.indices.map { "\(buffer).\($0 + 1)" } : [buffer]
      keys = buffers.map { ["pasteb", flags, $0, "-t", target] }
    }
    let leaving = TmuxWord.leavingModes(target)
    return (
      once(
        leaving + keys, mark.map(Self.option), unless: PaneFacts.isNotIdle),
      // What asks meanwhile would take Return for a yes.
      once(
        leaving + [["send-keys", "-t", target, "Enter"]], mark.map { "@riff_ret_" + $0 },
        unless: PaneFacts.isWaiting),
      buffer, returnAfter.map(Self.seconds) ?? ""
    )
  }

  /// The option of the tmux server that says that it was typed.
  static func option(mark: String) -> String { "@riff_inj_" + mark }

  /// What tmux answers where no program reads, where there are several panes, and where the agent
  /// is not idle: nothing is typed then, and nothing marked.
  static let (deaf, several, busy) = ("DEAF", Outcome.several.rawValue, Outcome.busy.rawValue)
  static let (asks, bang) = (Outcome.asking.rawValue, Outcome.command.rawValue)

  /// Why Return was not pressed, where tmux answers `several` or `busy`.
  static let (othersCame, asksNow) = (
    "other panes have come", "the agent asks something now: Return was not pressed"
  )

  static func outcome(_ answer: ControlAnswer) -> Outcome {
    let word = answer.text.split(separator: "\n").first
    return word.flatMap { Outcome(rawValue: String($0)) } ?? .typed
  }

  /// A list as one line for tmux, for a pane in which a program reads; with the mark set
  /// where it is not, before the commands: were they to fail, nothing may be typed twice.
  private func once(_ commands: [[String]], _ mark: String?, unless isBusy: String) -> String {
    let isDeaf = "#{||:#{pane_dead},#{pane_input_off}}"
    // Where there is no such session, the first command says so.
    var list = [["has-session", "-t", target]]
    let isAsking = PaneFacts.isAskingForTrust
    // What the screen and the hooks say counts where the agent itself says nothing.
    let hinders = idleWait == nil ? isAsking : "#{||:\(isAsking),\(isBusy)}"
    var condition = "#{||:#{&&:#{!=:\(Self.isKnown),1},\(hinders)},\(isDeaf)}"
    var answer = "#{?\(isDeaf),\(Self.deaf),#{?\(isAsking),\(Self.asks),\(Self.busy)}}"
    if let mark {
      list.append(["set-option", "-g", mark, markValue])
      condition = "#{||:#{\(mark)},\(condition)}"
      answer = "#{?\(mark),ALREADY,\(answer)}"
    }
    if pane == nil {
      condition = "#{||:\(TmuxWord.hasOthers),\(condition)}"
      answer = "#{?\(TmuxWord.hasOthers),\(Self.several),\(answer)}"
    }
    return TmuxWord.line([
      [
        "if-shell", "-F", "-t", target, condition,
        TmuxWord.line([["display-message", "-p", "-t", target, answer]]),
        TmuxWord.line(list + commands),
      ]
    ])
  }

  /// sleep(1)'s argument.
  private static func seconds(_ value: Double) -> String {
    let milliseconds = Int((min(max(value, 0), 3600) * 1000).rounded())
    return "\(milliseconds / 1000)." + String(milliseconds % 1000 + 1000).dropFirst()
  }

  private static let nothingToLoad = "drop() { :; }\n"

  /// `$2` is the buffer, `$3` the text's length. A buffer that came only in part is not
  /// typed; what is typed takes its buffer away.
  private static let loading = """
    buffer=$2
    drop() { t delete-buffer -b "$buffer" 2>/dev/null; }
    say=$(x load-buffer -b "$2" - \\; list-buffers -F '#{buffer_name} #{buffer_size}.' 2>&1) ||
      fail "$say"
    size=0
    case $say in
    *"$2 "*)
      size=${say##*"$2 "}
      size=${size%%.*}
      ;;
    esac
    if [ "$size" != "$3" ]; then
      drop
      fail "only $size of $3 bytes came"
    fi

    """

  /// The same of several buffers, the pieces: the lines are those of `TypedText.lines`.
  private static let loadingPieces = """
    buffer=$2 number=0 piece= is_whole=
    drop() {
      while [ "$number" -gt 0 ]; do
        t delete-buffer -b "$buffer.$number" 2>/dev/null
        number=$((number - 1))
      done
    }
    load() {
      [ "$number" -eq 0 ] || say=$(printf %s "$piece" | t load-buffer -b "$buffer.$number" - 2>&1) || {
        drop
        fail "$say"
      }
    }
    while IFS= read -r line; do
      case $line in
      P*)
        load
        number=$((number + 1)) piece=${line#?}
        ;;
      L*) piece="$piece
    ${line#?}" ;;
      E)
        load
        is_whole=1
        ;;
      esac
    done
    [ -n "$is_whole" ] || {
      drop
      fail "only a part of the text came"
    }

    """

  /// `$1` is what tmux runs for the text.
  private static let typing = """
    is_typed=
    withhold() {
      drop
      [ -z "$is_typed" ] || fail "$1"
      echo "$say"
      exit 0
    }
    enter() {
      permit "$1"
      say=$withheld
      [ "$say" != \(asks) ] || withhold "\(asksNow)"
      [ -n "$is_typed" ] || [ -z "$say" ] || withhold ""
      if say=$(x if-shell -F 1 "$list" 2>&1); then
        case $say in
        \(several)) withhold "\(othersCame)" ;;
        \(busy) | \(asks)) withhold "\(asksNow)" ;;
        esac
        [ "$say" = \(deaf) ] || return 0
        say="nothing reads there: the program has ended, or the pane takes no keys"
      fi
      drop
      fail "$say"
    }
    enter "$1"
    [ -z "$say" ] || drop
    printf '%s\\n' "${say:-\(typed)}"

    """

  /// `$4` is the wait before Return, `$5` what tmux runs for it.
  private static let entering = """
    told() {
      claude_rows
      [ "$stands" != idle ] || claude_said "$process"
    }
    is_typed=1
    sleep "$4"
    had=$(told)
    enter "$5"
    """

  /// Behind `entering`: what Claude Code was given while it was idle, it begins to do.
  private static let confirming = """

    i=0
    while [ "$stands" = idle ] && [ "$(told)" = "$had" ]; do
      [ "$i" -lt 60 ] || fail "its agent has not begun with it"
      i=$((i + 1))
      sleep 0.05 || i=60
    done
    """

  static let typed = "typed"
}

/// Text on its way to the input line of a session: it is trimmed, one blank follows it,
/// and it holds nothing that would be a key of its own.
public struct TypedText: Equatable, Sendable {
  /// What the pane receives, byte for byte.
  public let bytes: [UInt8]
  /// Whether every byte counts as it is: controls are keys.
  public let isRaw: Bool

  /// Text as a person means it: trimmed, one blank behind it.
  ///
  /// - Parameter text: UTF-8. Line feeds and tabs inside it stay: it then is pasted.
  /// - Throws: `UsageError` for control characters and invalid UTF-8.
  public init(_ text: [UInt8]) throws(UsageError) {
    isRaw = false
    if let fault = text.withUnsafeBytes({ UTF8Text.firstFault($0) }) {
      throw UsageError("byte \(fault + 1) of the text is not UTF-8 (--raw types it)")
    }
    let scalars = String(decoding: text, as: UTF8.self).unicodeScalars.trimming {
      $0.properties.isWhitespace
    }
    for scalar in scalars where Self.isKey(scalar) {
      throw UsageError(
        "the text holds the control character \(Visible.escape(scalar)) (--raw types it)")
    }
    bytes = scalars.isEmpty ? [] : Array(String(scalars).utf8) + [0x20]
  }

  /// Words as they are: nothing is trimmed.
  ///
  /// - Parameter words: without control characters.
  public init(untrimmed words: [UInt8]) { (bytes, isRaw) = (words, false) }

  /// Bytes as they are.
  public init(raw bytes: [UInt8]) {
    isRaw = true
    self.bytes = bytes
  }

  /// Whether there is nothing to type.
  public var isEmpty: Bool { bytes.isEmpty }

  /// Up to here text is typed key by key; a longer one is pasted.
  static let longestKeys = 8192

  /// When it is long, or when a line end in it could be taken for Return.
  var isPaste: Bool {
    !isRaw && (bytes.count > Self.longestKeys || bytes.contains { $0 < 0x20 })
  }

  /// Up to here Claude Code takes a paste for what the person says, and above for something that
  /// comes from elsewhere: UTF-16 units, and line feeds.
  private static let (longestPiece, mostFeeds) = (800, 2)

  /// Whether it is longer than a piece may be.
  var isLong: Bool {
    !isRaw
      && (bytes.count > 3 * Self.longestPiece || bytes.count { $0 == 10 } > Self.mostFeeds
        || String(decoding: bytes, as: UTF8.self).utf16.count > Self.longestPiece)
  }

  /// The pastes in which it is typed; one of all of it where it is too long for so many.
  func pieces(atMost most: Int) -> [ArraySlice<UInt8>] {
    guard !isRaw, bytes.count < most * 4 * Self.longestPiece else { return [bytes[...]] }
    var pieces: [ArraySlice<UInt8>] = []
    var (start, place, units, feeds) = (0, 0, 0, 0)
    for character in String(decoding: bytes, as: UTF8.self) {
      let (length, isFeed) = (character.utf16.count, character == "\n")
      if place > start, units + length > Self.longestPiece || isFeed && feeds == Self.mostFeeds {
        pieces.append(bytes[start..<place])
        (start, units, feeds) = (place, 0, 0)
      }
      place += character.utf8.count
      units += length
      feeds += isFeed ? 1 : 0
    }
    pieces.append(bytes[start...])
    return pieces.count > most ? [bytes[...]] : pieces
  }

  /// Pieces as lines that sh reads: `P` and the first line of a piece, `L` and each other one, and
  /// `E` at the end.
  static func lines(of pieces: [ArraySlice<UInt8>]) -> [UInt8] {
    pieces.reduce(into: []) { lines, piece in
      for (index, line) in piece.split(separator: 10, omittingEmptySubsequences: false).enumerated()
      {
        lines += [index == 0 ? UInt8(ascii: "P") : UInt8(ascii: "L")] + line + [10]
      }
    } + Array("E\n".utf8)
  }

  /// Whether an agent would begin to work at it: what begins with these is for the program itself.
  var isPrompt: Bool { !isRaw && !bytes.isEmpty && !"/#!".utf8.contains(bytes[0]) }

  /// Whether a line of it begins with `!`.
  var isCommand: Bool {
    !isRaw
      && bytes.split(separator: 10).contains { line in
        line.first { $0 != 0x20 && $0 != 9 } == UInt8(ascii: "!")
      }
  }

  /// Whether it goes as an argument; else as a buffer of tmux. tmux's send-keys knows
  /// text alone, and only what it gives a width to; one command of tmux is 16 KB at most,
  /// and one of libssh2 32 KB, in which a quote that is quoted four times takes 200 bytes.
  var isArgument: Bool {
    bytes.count <= Self.longestKeys && bytes.allSatisfy { 0x20...0x7e ~= $0 }
      && bytes.count { #"'\!"#.utf8.contains($0) } <= 64
  }

  private static func isKey(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 9, 10: false
    case ..<0x20, 0x7f...0x9f: true
    default: false
    }
  }
}
