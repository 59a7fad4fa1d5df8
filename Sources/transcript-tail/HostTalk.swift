import Core
import Shell
import Turns

/// Takes the answers of `HostScript` apart, wherever the pieces that they come in end. Pure.
struct HostTalk {
  /// Whether the script has begun.
  private(set) var hasBegun = false
  private let greeting: [UInt8]
  private var bytes: [UInt8] = []
  /// Of `bytes`: how far the end was looked for.
  private var searched = 0

  /// Bytes that login files, or a list of transcripts, may have.
  private static let limit = 64 << 20
  private static let nonsense = HostFailure.unfit(why: "the host's answer makes no sense")

  init(nonce: String) { greeting = HostScript.greeting(nonce) }

  /// The end of what came instead of the greeting.
  var greeted: [UInt8] { Array(bytes.suffix(200)) }

  mutating func append(_ more: ArraySlice<UInt8>) throws(HostFailure) {
    if bytes.count > Self.limit { throw Self.nonsense }
    bytes += more
  }

  /// Takes the greeting; nil until it has come, as of the other answers.
  mutating func begin() -> Bool? {
    guard let place = find(greeting) else { return nil }
    drop(place + greeting.count)
    hasBegun = true
    return true
  }

  /// Takes a list of transcripts: those that changed, nil when there is no such place; and the
  /// folders that may not be read.
  mutating func files() -> (files: [SeenFile]?, denied: [String])? {
    // The end is a line of its own, and may be the first.
    let end = bytes.starts(with: [46, 10]) ? 0 : find([10, 46, 10]).map { $0 + 1 }
    guard let end else { return nil }
    defer { drop(end + 2) }
    return Self.files(bytes[..<end])
  }

  /// Takes so many bytes of a transcript, and whose they are now.
  mutating func piece(
    _ count: Int
  ) throws(HostFailure) -> (bytes: [UInt8], number: UInt64, size: Int64, isBad: Bool)? {
    guard bytes.count > count else { return nil }
    searched = max(searched, count)
    guard let end = find([10]) else {
      if bytes.count > count + 200 { throw Self.nonsense }
      return nil
    }
    let words = bytes[count..<end].split(separator: 32, maxSplits: 3).map { Self.text($0) }
    guard words.count == 3, let number = UInt64(words[0]), let size = Int64(words[1]) else {
      throw Self.nonsense
    }
    defer { drop(end + 1) }
    return (Array(bytes[..<count]), number, size, words[2] != "good")
  }

  private mutating func drop(_ count: Int) {
    bytes.removeFirst(count)
    searched = 0
  }

  private mutating func find(_ text: [UInt8]) -> Int? {
    let found = bytes.place(of: text, from: searched)
    if found == nil { searched = max(searched, bytes.count - text.count + 1) }
    return found
  }

  /// What a list tells. What is not as it should be is left out.
  private static func files(_ lines: ArraySlice<UInt8>) -> (files: [SeenFile]?, denied: [String]) {
    var files: [SeenFile] = []
    var denied: [String] = []
    for line in lines.split(separator: 10) {
      if line.elementsEqual([UInt8(ascii: "?")]) { return (nil, []) }
      if line.first == UInt8(ascii: "!") {
        if let path = refused(line) { denied.append(path) }
        continue
      }
      let fields = line.split(separator: 32, maxSplits: 4, omittingEmptySubsequences: false)
      guard fields.count == 5, fields[4].first == UInt8(ascii: "/"),
        let number = UInt64(text(fields[0])), let size = Int64(text(fields[1])), size >= 0,
        let time = nanoseconds(text(fields[2]))
      else { continue }
      // Some systems do not know when a file was made, and say so in many ways.
      let born = max(0, nanoseconds(text(fields[3])) ?? 0)
      let path = FileName.text(Array(fields[4]))
      files.append(SeenFile(path: path, number: number, born: born, size: size, modified: time))
    }
    return (files, denied)
  }

  /// The folder of which find(1) says that it may not be read; some quote it.
  private static func refused(_ line: ArraySlice<UInt8>) -> String? {
    let (start, end) = (Array("! find: ".utf8), Array(": Permission denied".utf8))
    guard line.starts(with: start), line.count > start.count + end.count,
      line.suffix(end.count).elementsEqual(end)
    else { return nil }
    let name = line.dropFirst(start.count).dropLast(end.count)
    let quote = UInt8(ascii: "'")
    let isQuoted = name.count > 2 && name.first == quote && name.last == quote
    return FileName.text(Array(isQuoted ? name.dropFirst().dropLast() : name))
  }

  private static func nanoseconds(_ seconds: String) -> Int64? {
    let parts = seconds.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = Int64(parts[0]), abs(whole) < 1 << 33 else { return nil }
    guard parts.count > 1 else { return whole * 1_000_000_000 }
    let digits = String((parts[1] + "000000000").prefix(9))
    return UInt32(digits).map { whole * 1_000_000_000 + Int64($0) }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }
}

/// The program that runs on a host: it answers requests, which come as lines, from its
/// standard input, until that ends. It needs a POSIX shell, and awk, find, stat, dd, tail
/// and head as they are in Linux, macOS, the BSDs and BusyBox.
///
/// - `look`: `FILE SIZE TIME BORN PATH` for each transcript of which the last answer said
///   something else, or nothing, a line each, then `.`. The answer waits some seconds for
///   one. Times are in seconds, with a fraction where stat tells it. `! MESSAGE` is what find
///   said of a folder that may not be read. Without the place there is the line `?` alone
///   before the `.`.
/// - `read OFFSET COUNT PATH/`: exactly COUNT bytes, zeros where the file has no more, and
///   behind them the line `FILE SIZE STATE`, as it is afterwards; STATE is `bad` when it
///   cannot be read. What was cut or replaced meanwhile shows from that, too.
enum HostScript {
  /// In two pieces, so that a shell which shows its commands does not show a mark.
  private static let mark = "transcript-tail-"

  /// The line that the host says first, behind what login files say.
  static func greeting(_ nonce: String) -> [UInt8] { Array("\(mark)\(nonce)\n".utf8) }

  /// The most seconds that the answer to `look` waits.
  static let patience = 4.0

  /// `path`: empty for the usual folder; `nonce`: letters and digits that nobody can guess.
  static func command(path: String, nonce: String) -> String {
    ShellWord.login(
      script: """
        place=\(path.shellQuoted)
        suffix=\(ClaudeTranscripts.suffix.shellQuoted)
        sessions=\(ClaudeTranscripts.depthOfSessions)
        depth=\(ClaudeTranscripts.depth)
        patience=\(Int(patience))
        usual() { place="\(ClaudeTranscripts.folderOnHost)"; }
        printf '%s%s\\n' '\(mark)' '\(nonce)'
        \(body)
        """, hidesInput: true)
  }

  static let look = Array("look\n".utf8)

  /// Asks for a piece of one. The slash keeps blanks at the end of a name.
  static func read(_ piece: FollowPlan.Piece) -> [UInt8] {
    Array("read \(piece.offset) \(piece.count) ".utf8) + FileName.bytes(piece.path)
      + Array("/\n".utf8)
  }

  private static let body = #"""
    set -f
    LC_ALL=C
    export LC_ALL
    case $place in
    '') usual ;;
    '~') place=$HOME ;;
    '~/'*) place=$HOME/${place#??} ;;
    /*) ;;
    *) place=$HOME/$place ;;
    esac
    if stat -c %i / >/dev/null 2>&1; then
      form='%i %s %Y %W %n'
      case $(stat -c %.9Y / 2>/dev/null) in *[0-9].[0-9]*) form='%i %s %.9Y %.9W %n' ;; esac
      stats() { stat -L -c "$form" "$@"; }
      each='-c'
    else
      form='%i %z %m %B %N'
      case $(stat -f %Fm / 2>/dev/null) in *[0-9].[0-9]*) form='%i %z %Fm %FB %N' ;; esac
      stats() { stat -L -f "$form" "$@"; }
      each='-f'
    fi
    found() {
      find -L "$place" "$@" ! -path '*[[:cntrl:]]*' -type f -exec stat -L "$each" "$form" {} +
    }
    list() {
      if [ -d "$place" ]; then
        { bad=$({
          found -maxdepth "$sessions" -name "*$suffix"
          found -mindepth $((sessions + 1)) -maxdepth "$depth" -name "agent-*$suffix"
        } 2>&1 >&6 | sed -n '/^find: .*: Permission denied$/s/^/! /p'); } 6>&1
        [ -z "$bad" ] || printf '%s\n' "$bad"
      elif [ -e "$place" ]; then
        stats "$place"
      else
        echo '?'
      fi
    }
    look() {
      end=$(($(date +%s) + patience))
      tries=0
      while new=$(list); [ "$new" = "$old" ] && [ "$tries" -lt $((2 * patience)) ] &&
        [ "$(date +%s)" -lt "$end" ]; do
        tries=$((tries + 1))
        sleep 0.5 2>/dev/null || sleep 1
      done
      printf '%s\n.\n%s\n' "$old" "$new" | awk '
        behind { if ($0 != "" && !($0 in told)) print; next }
        $0 == "." { behind = 1; next }
        { told[$0] }'
      old=$new
      echo .
    }
    blocks() {
      [ -f "$path" ] && [ -r "$path" ] &&
        dd if="$path" bs=65536 skip=$((offset / 65536)) \
          count=$(((first + count + 65535) / 65536)) ||
        [ $? -gt 128 ] || echo bad >&5
    }
    piece() {
      first=$((offset % 65536))
      exec 4>&1
      state=$({ {
        if [ "$first" -eq 0 ]; then blocks; else blocks | tail -c +$((first + 1)); fi
        cat /dev/zero
      } | head -c "$count" >&4; } 5>&1 2>/dev/null)
      exec 4>&-
      after=$(stats "$path" 2>/dev/null) || after='0 0 0'
      set -- $after
      echo "$1 $2 ${state:-good}"
    }
    old=' '
    while IFS=' ' read -r what offset count path; do
      case $what in
      look) look </dev/null ;;
      read)
        path=${path%/}
        piece </dev/null
        ;;
      esac
    done
    """#
}
