import CLibc
import Core

/// agent-plot(1): counts as bars, drawn by action-format, or as a picture, drawn by gnuplot.
public func agentPlotMain() {
  PlotOptions.table.run(PlotOptions()) { options, diagnostics in
    if options.picture != nil, !ProgramCall.isThere("gnuplot") {
      diagnostics.fail("gnuplot: not found")
    }
    if options.files.isEmpty, isatty(0) == 1 {
      throw UsageError("nothing to read: a pipe of counts is needed, as of action-filter --by")
    }
    let input = try input(options, diagnostics)
    if input.first != UInt8(ascii: "{"), input.prefix(while: { $0 != 10 }).contains(9) {
      throw Failure("standard input is a table, not records: agent-cost -o json prints those")
    }
    let scratch = ScratchFolder(diagnostics)
    defer { scratch.remove() }
    let path = Folders.join(scratch.path, "input")
    try write(input, to: path)
    let given = clibc_open(path, O_RDONLY)
    guard let picture = options.picture else {
      let files = ["--"] + options.files
      _ = try counts(["-o", "tsv"] + files, given, scratch, diagnostics)
      lseek(given, 0, SEEK_SET)
      try show(files, given, scratch)
      return .success
    }
    let lines = try counts(["-t", "-o", "tsv"], given, scratch, diagnostics)
    try draw(try PlotTable(lines, options.value), picture, options.size, scratch)
    return .success
  }
}

/// What action-format is to read: for bars, what can be read only once; for a picture, all but
/// the sum of all, which is no bar.
private func input(_ options: PlotOptions, _ diagnostics: Diagnostics) throws(Failure) -> [UInt8] {
  let files = options.files.isEmpty ? ["-"] : options.files
  guard options.picture != nil else {
    return files.contains("-") ? try BoundedFile.given("-", limit: .max) : []
  }
  var bytes: [UInt8] = []
  var isWhole = true
  for file in files {
    do throws(Failure) {
      bytes += try BoundedFile.given(file, limit: .max)
    } catch {
      diagnostics.say(error.message)
      isWhole = false
    }
  }
  if !isWhole { Process.exit(.failure) }
  let total = Array(#"{"type":"count","count":"#.utf8)
  let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
  return Array(lines.filter { !$0.starts(with: total) }.joined(separator: [10]))
}

/// The lines of a table of counts, its heading first.
private func counts(
  _ words: [String], _ input: Int32, _ scratch: ScratchFolder, _ diagnostics: Diagnostics
) throws(Failure) -> [String] {
  let call = try ProgramCall(["action-format"] + words, reading: input)
  ProgramCall.wait(for: [call]) { scratch.remove() }
  let isPicture = words.contains("-t")
  if !call.lines.isEmpty, !isPicture || call.status == 0 { return call.lines }
  if call.status > 1 {
    for fault in call.faults { diagnostics.say(fault) }
    scratch.remove()
    Process.exit(code: call.status)
  }
  throw Failure("no counts in the input: pipe it through action-filter --by", .negative)
}

/// Has action-format draw bars where we print.
private func show(_ words: [String], _ input: Int32, _ scratch: ScratchFolder) throws(Failure) {
  let child = try ChildProcess(
    ["action-format"] + words, environment: ["AGENTUTILS_PROGRAM": Process.name],
    input: .given(input), output: .ours)
  while !child.hasEnded {
    var entry = pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&entry, 1, 10)
    guard let signal = EndSignals.next() else { continue }
    child.kill(signal)
    scratch.remove()
    Process.die(by: signal)
  }
  _ = child.waitForEnd()
  scratch.remove()
  if let signal = child.endSignal { Process.die(by: signal) }
  Process.exit(code: child.exitStatus ?? 0)
}

struct PlotOptions {
  struct Picture {
    enum Form: String { case png, svg }
    let form: Form
    let file: String
  }

  enum Value: String, CaseIterable { case count, cost, tokens }

  var size = (width: 1000, height: 500)
  var value: Value?
  var files: [String] = []
  var pictures: [Picture] = []
  var picture: Picture? { pictures.last }

  static let table = OptionTable<PlotOptions>(
    program: "agent-plot", summary: "Draw counts, as action-filter --by prints them.",
    synopsis: "[--png FILE | --svg FILE] [FILE ...]",
    guesses: ["--json": "it reads JSON, and shows it"],
    options: [
      Option(nil, "png", "FILE", "write a PNG picture to FILE, by gnuplot", .path) {
        $0.pictures.append(Picture(form: .png, file: $1))
      },
      Option(nil, "size", "WIDTHxHEIGHT", "of the picture (default: 1000x500)", .size) {
        $0.size = $1
      },
      Option(nil, "svg", "FILE", "write an SVG picture to FILE, by gnuplot", .path) {
        $0.pictures.append(Picture(form: .svg, file: $1))
      },
      Option(
        nil, "value", "WORD", "count, cost or tokens (default: cost if tokens are counted)",
        .choice(of: Value.self)
      ) { $0.value = $1 },
    ]
  ) { options, words throws(UsageError) in
    options.files = words.paths
    for picture in options.pictures where picture.file.isEmpty {
      throw UsageError("option --\(picture.form.rawValue): nothing is named")
    }
    if let other = options.pictures.first, other.form != options.picture?.form {
      throw UsageError("one file: --png or --svg")
    }
    if options.picture == nil, options.value != nil {
      throw UsageError("--value needs --png or --svg")
    }
  }
}

extension Reading<(width: Int, height: Int)> {
  /// Each becomes a part of a command.
  fileprivate static var size: Reading {
    Reading("not WIDTHxHEIGHT, each from 10 to 9999") { text in
      let sides = text.utf8.split(separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
      let numbers = sides.compactMap { side in
        let isPlain = side.allSatisfy { (48...57).contains($0) } && side.first != 48
        return isPlain && (2...4).contains(side.count) ? Int(String(Substring(side))) : nil
      }
      return sides.count == 2 && numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }
  }
}
