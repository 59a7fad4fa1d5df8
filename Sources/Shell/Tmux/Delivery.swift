import Core

extension TmuxScript {
  /// `no WHY` ends it where a file cannot be brought.
  static let refusing = """
    no() {
      printf '%s\\n' "$1"
      exit \(noInbox)
    }

    """

  /// The folder that files are brought into, made for the user alone. One that is a
  /// link or in a link, or another's, is not trusted. Parts that were left behind a day ago go.
  /// `$1` is the session.
  static let makeInbox =
    TmuxScript.opening + refusing + """
      has "$1"
      pane=$(x display-message -p -t "$1" '#{||:#{pane_dead},#{pane_input_off}} #{session_created}')
      [ "${pane% *}" != 1 ] || no "what ran there has ended, or takes no input"
      # An agent that has just been started may throw away what it finds typed.
      [ "$(($(date +%s) - ${pane#* }))" -ge 2 ] || sleep 2
      inbox=$HOME/.riff/inbox
      umask 077
      [ ! -L "$HOME/.riff" ] || no "$HOME/.riff is a symbolic link"
      say=$(mkdir -p -- "$inbox" 2>&1) || no "$say"
      [ ! -L "$inbox" ] || no "$inbox is a symbolic link"
      [ -O "$inbox" ] || no "$inbox belongs to somebody else"
      cd -- "$inbox" || no "$inbox cannot be entered"
      find . -name '.part-*' -mtime +0 -prune -exec rm -rf -- {} + 2>/dev/null
      pwd -P
      """

  /// `$1` is the session, `$2` the folder, `$3` the name, `$4` the part, `$5` the size,
  /// `$6` the mark, `$7` the text, `$8` the buffer or nothing, `$9` the wait before
  /// Return or nothing, then what tmux runs for the text and for Return, and what the
  /// mark is set to: a name that comes again with another size is not what was typed.
  static let deliver = """
    say=$(x has-session -t "$1" \\; show-options -gqv "$6" 2>&1) || fail "$say"
    if [ -z "$say" ]; then
      cd -- "$2" 2>/dev/null || no "$2 cannot be entered"
      [ ! -L "$2" ] && [ -O . ] || no "$2 is not the folder that it was"
      umask 077
      set -C
      part=$4
      leave() { rm -f -- "$part"; }
      trap 'exit \(noInbox)' 1 2 13 15
      say=$(cat 2>&1 >"$4") || no "${say:-$2: cannot be written}"
      size=$(wc -c <"$4")
      [ "$size" -eq "$5" ] || no "only $size of $5 bytes came"
      [ ! -L "$3" ] || rm -f -- "$3"
      [ ! -d "$3" ] || no "$2/$3 is a folder"
      say=$(mv -f -- "$4" "$3" 2>&1) || no "$say"
      leave() { :; }
      trap - 1 2 13 15
    elif [ "$say" != "${12}" ]; then
      echo OTHER
      exit 0
    fi
    if [ -n "$8" ]; then
      say=$(printf %s "$7" | t load-buffer -b "$8" - 2>&1) || fail "$say"
    fi
    permit "${10}"
    status=0
    say=${withheld:-$(x if-shell -F 1 "$list" 2>&1)} || status=$?
    [ -z "$8" ] || t delete-buffer -b "$8" 2>/dev/null
    [ "$status" -eq 0 ] || fail "$say"
    [ "$say" != \(Typing.deaf) ] || no "what ran there has ended, or takes no input"
    printf '%s\\n' "${say:-typed}"
    case $say in
    \(Typing.several) | \(Typing.busy) | \(Typing.asks) | \(Typing.bang)) exit 0 ;;
    esac
    [ -n "$9" ] || exit 0
    sleep "$9"
    permit "${11}"
    [ "$withheld" != \(Typing.asks) ] || fail "\(Typing.asksNow)"
    say=$(x if-shell -F 1 "$list" 2>&1) || fail "$say"
    case $say in
    \(Typing.several)) fail "\(Typing.othersCame)" ;;
    \(Typing.busy) | \(Typing.asks)) fail "\(Typing.asksNow)" ;;
    esac
    """
}

extension RemoteTmux {
  /// Looks for a session and makes the folder on the host that files go to.
  ///
  /// - Returns: the folder's absolute path.
  public func inbox(for session: String) throws(HostFailure) -> String {
    let request = ControlRequest(TmuxScript.makeInbox, [label, try pane(of: session)])
    let answer = try answer(request, session: session, more: 2)
    guard answer.text.hasPrefix("/"), !ShellWord.holdsControls(answer.text) else {
      throw .noInbox("its path cannot be typed")
    }
    return answer.text
  }

  /// Brings a file to the host and types its path into a session, both exactly once however often
  /// the call is made.
  ///
  /// The file comes whole or not at all: into a part of its own, whose size is counted,
  /// and which is then renamed. The text is typed as `Typing` does with a mark, so that the
  /// tmux server itself knows what it has been given: a call that is cut off at any
  /// byte can be made again, and two at once do no harm.
  ///
  /// - Parameters:
  ///   - typing: what to type, where; with a mark.
  ///   - name: the file's name in the folder: letters, digits, `-`, `_` and `.`, and no `.` in front.
  ///   - folder: as `inbox` says.
  ///   - progress: told how many bytes have gone out.
  public func deliver(
    _ typing: Typing, _ file: (descriptor: Int32, size: Int), as name: String,
    in folder: String, progress: ((Int) -> Void)? = nil
  ) throws(HostFailure) -> Typing.Outcome {
    var typing = typing
    typing.markValue = "\(file.size)B"
    return try atAgent(typing) { typing throws(HostFailure) in
      let nonce = HostCalls.nonce()
      let lists = typing.lists(nonce: nonce)
      let request = ControlRequest(
        TmuxScript.opening + typing.permission + TmuxScript.refusing + TmuxScript.deliver,
        [
          label, typing.target, typing.target, folder, name, ".part-" + nonce,
          String(file.size), Typing.option(mark: typing.mark ?? name),
          String(decoding: typing.text.bytes, as: UTF8.self), lists.buffer, lists.pause,
          lists.typed, lists.entered, typing.markValue,
        ],
        input: .file(descriptor: file.descriptor, size: file.size))
      do throws(HostFailure) {
        let answer = try answer(
          request, session: typing.session, more: typing.pause, progress: progress)
        return Typing.outcome(answer)
      } catch .noInbox(let why) {
        // The part has another name each time, and what is wrong is the same.
        throw .noInbox(why.exchanging(text: ".part-" + nonce, for: name))
      }
    }
  }
}
