import Core

extension TmuxScript {
  /// `$1` is the session, `$2` the folder, `$3` the part, which is a folder here, `$4`
  /// how many files there are, and `$5` how many bytes. Of `typing`, three lines are a
  /// file: its name, its mark, and what tmux runs.
  static let deliverBatch = """
    has "$1"
    cd -- "$2" 2>/dev/null || no "$2 cannot be entered"
    [ ! -L "$2" ] && [ -O . ] || no "$2 is not the folder that it was"
    umask 077
    folder=$2 part=$3 count=$4 size=$5
    leave() { cd -- "$folder" && rm -rf -- "$part"; }
    trap 'exit \(noInbox)' 1 2 13 15
    mkdir -- "$part" && cd -- "$part" || no "$folder: no folder can be made"
    say=$(tar -xf - 2>&1) || no "$say"
    cd f 2>/dev/null || no "no file came"
    set -- *
    [ "$#" -eq "$count" ] && [ "$(cat -- "$@" | wc -c)" -eq "$size" ] || no "only a part came"
    marks=$(x show-options -g 2>/dev/null)
    set --
    while read -r name && read -r mark && read -r list; do
      case $marks in
      *"$mark "*)
        case $marks in
        *"$mark $(wc -c <"$name" | tr -d ' ')B"*) continue ;;
        esac
        no "$name has been typed with another size"
        ;;
      esac
      [ ! -L "../../$name" ] || rm -f -- "../../$name"
      [ ! -d "../../$name" ] || no "$folder/$name is a folder"
      set -- "$@" "$name"
    done <../typing
    if [ "$#" -gt 0 ]; then
      say=$(mv -f -- "$@" ../.. 2>&1) || no "$say"
    fi
    while IFS= read -r name && IFS= read -r mark && IFS= read -r list; do
      permit "$list" </dev/null
      say=${withheld:-$(x if-shell -F 1 "$list" 2>&1 </dev/null)} || fail "$say"
      case $say in
      \(Typing.several) | \(Typing.busy) | \(Typing.asks) | \(Typing.bang)) echo "$say" && exit 0 ;;
      esac
      [ "$say" != \(Typing.deaf) ] || no "what ran there has ended, or takes no input"
    done <../typing
    """
}

extension Typing {
  /// Whether it can be typed in a batch.
  public var fitsBatch: Bool {
    text.isArgument && !isPicture && returnAfter == nil && mark != nil
  }
}

extension RemoteTmux {
  /// Brings several small files and types their paths: what `deliver` does with each of them, in the
  /// time of one.
  ///
  /// When it fails, nobody knows how many of them were typed. Each can then be delivered
  /// by itself: what has its mark is not typed again.
  ///
  /// - Parameters:
  ///   - files: in the order in which they are typed, all for one session; `typing` has a mark and
  ///     fits. The time is in seconds since 1970.
  ///   - folder: as `inbox` says.
  public func deliver(
    _ files: [(name: String, content: [UInt8], modified: Int64, typing: Typing)],
    in folder: String
  ) throws(HostFailure) {
    guard let first = files.first?.typing else { return }
    _ = try atAgent(first) { first throws(HostFailure) in
      let nonce = HostCalls.nonce()
      var archive = TarArchive()
      var lines = ""
      for file in files {
        let option = Typing.option(mark: file.typing.mark ?? file.name)
        var typing = file.typing
        (typing.pane, typing.markValue) = (first.pane, "\(file.content.count)B")
        lines += "\(file.name)\n\(option)\n\(typing.lists(nonce: nonce).typed)\n"
      }
      // What comes last is what a cut takes away, and that is counted.
      archive.add("typing", Array(lines.utf8), modified: 0)
      for file in files { archive.add("f/" + file.name, file.content, modified: file.modified) }
      let request = ControlRequest(
        TmuxScript.opening + first.permission + TmuxScript.refusing + TmuxScript.deliverBatch,
        [
          label, first.target, first.target, folder, ".part-" + nonce,
          String(files.count), String(files.reduce(0) { $0 + $1.content.count }),
        ],
        input: .bytes(archive.finished))
      return Typing.outcome(try answer(request, session: first.session))
    }
  }
}

/// Files as one stream that every tar(1) takes apart: the ustar form of POSIX.1-1988
/// (pax(1), ustar Interchange Format), regular files alone.
struct TarArchive {
  private(set) var bytes: [UInt8] = []

  private static let block = 512

  /// `name`: 1 to 99 bytes, a relative path; `modified`: seconds since 1970.
  mutating func add(_ name: String, _ content: [UInt8], modified: Int64) {
    var header = [UInt8](repeating: 0, count: Self.block)
    func put(_ text: String, at place: Int) {
      header.replaceSubrange(place..<(place + text.utf8.count), with: Array(text.utf8))
    }
    put(String(name.prefix(99)), at: 0)
    put(Self.octal(0o600, 7), at: 100)
    put(Self.octal(0, 7), at: 108)
    put(Self.octal(0, 7), at: 116)
    put(Self.octal(Int64(content.count), 11), at: 124)
    put(Self.octal(max(0, modified), 11), at: 136)
    // The sum is that of the header with blanks in its own place.
    put("        ", at: 148)
    put("0", at: 156)
    put("ustar\u{0}00", at: 257)
    put(Self.octal(header.reduce(0) { $0 + Int64($1) }, 6) + "\u{0} ", at: 148)
    bytes += header + content
    let rest = bytes.count % Self.block
    if rest > 0 { bytes += [UInt8](repeating: 0, count: Self.block - rest) }
  }

  var finished: [UInt8] { bytes + [UInt8](repeating: 0, count: 2 * Self.block) }

  private static func octal(_ value: Int64, _ width: Int) -> String {
    String(value.digits(width, radix: 8).suffix(width))
  }
}
