public import Core

/// A call that types into a session.
///
/// Copy mode is left and the text typed in one list of tmux commands: nothing can come
/// between the two. With a `mark`, the list also sets the mark on the tmux server, and
/// types only where it is not set: whoever calls again with the same mark, since it
/// never heard the answer, types nothing twice. The mark lives as long as the
/// server's sessions.
public struct Typing: Sendable {
  /// What came of it.
  public enum Outcome: Equatable, Sendable {
    case typed
    /// The mark was there: it had been typed before.
    case already
    /// It had been, for a file of this name with other content.
    case other
    /// Nothing was typed: the session has several panes, or not the agent's.
    case several
    /// Nothing was typed: the agent is no longer idle.
    case busy
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
    // A short call is a quick one: only what this one needs goes to the host.
    return ControlRequest(
      TmuxScript.opening + (hasBuffer ? Self.loading : Self.nothingToLoad) + Self.typing
        + (hasReturn ? Self.entering : ""),
      [label, lists.typed] + (hasBuffer || hasReturn ? [lists.buffer, "\(text.bytes.count)"] : [])
        + (hasReturn ? [lists.pause, lists.entered] : []),
      input: isBuffer ? .bytes(text.bytes) : .none)
  }

  /// Whether the text goes over standard input: it is not to be read in the command lines of
  /// the host (`ps`) for as long as the pause before Return is.
  private var isBuffer: Bool { !text.isArgument || pause > 0 }

  /// `isBuffer`: nil where the text has to be in one; no Return: the argument of sleep is empty.
  func lists(
    nonce: String, isBuffer: Bool? = nil
  ) -> (typed: String, entered: String, buffer: String, pause: String) {
    let isBuffer = isBuffer ?? !text.isArgument
    let buffer = isBuffer ? "agentutils-" + nonce : ""
    let keys: [String]
    if !isBuffer {
      keys = ["send-keys", "-l", "-t", target, "--", String(decoding: text.bytes, as: UTF8.self)]
    } else {
      let paste = ["paste-buffer", "-d", "-r"] + (text.isPaste ? ["-p"] : [])
      keys = paste + ["-b", buffer, "-t", target]
    }
    let leaving = TmuxWord.leavingModes(target)
    return (
      once(leaving + [keys], mark.map(Self.option), unless: PaneFacts.isNotIdle),
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
  static let (deaf, several, busy) = ("DEAF", "SEVERAL", "BUSY")

  /// Why Return was not pressed, where tmux answers `several` or `busy`.
  static let (othersCame, asksNow) = (
    "other panes have come", "the agent asks something now: Return was not pressed"
  )

  func outcome(_ answer: ControlAnswer) -> Outcome {
    switch answer.text.split(separator: "\n").first {
    case "ALREADY": .already
    case "OTHER": .other
    case .some(Substring(Self.several)): .several
    case .some(Substring(Self.busy)): .busy
    default: .typed
    }
  }

  /// A list as one line for tmux, for a pane in which a program reads; with the mark set
  /// where it is not, before the commands: were they to fail, nothing may be typed twice.
  private func once(_ commands: [[String]], _ mark: String?, unless isBusy: String) -> String {
    let isDeaf = "#{||:#{pane_dead},#{pane_input_off}}"
    // Where there is no such session, the first command says so.
    var list = [["has-session", "-t", target]]
    var condition = isDeaf
    var answer = Self.deaf
    if idleWait != nil {
      condition = "#{||:\(isBusy),\(isDeaf)}"
      answer = "#{?\(isDeaf),\(answer),\(Self.busy)}"
    }
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

  /// `$1` is what tmux runs for the text.
  private static let typing = """
    is_typed=
    withheld() {
      drop
      [ -z "$is_typed" ] || fail "$1"
      echo "$say"
      exit 0
    }
    enter() {
      if say=$(x if-shell -F 1 "$1" 2>&1); then
        [ "$say" != \(several) ] || withheld "\(othersCame)"
        [ "$say" != \(busy) ] || withheld "\(asksNow)"
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
    is_typed=1
    sleep "$4"
    enter "$5"
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
    var scalars = String(decoding: text, as: UTF8.self).unicodeScalars[...]
    while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
    while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
    for scalar in scalars where Self.isKey(scalar) {
      throw UsageError(
        "the text holds the control character \(Visible.escape(scalar)) (--raw types it)")
    }
    bytes = scalars.isEmpty ? [] : Array(String(scalars).utf8) + [0x20]
  }

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
