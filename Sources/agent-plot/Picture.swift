import CLibc
import Core

/// Has gnuplot draw a table, and puts the picture where it belongs.
func draw(
  _ table: PlotTable, _ picture: PlotOptions.Picture, _ size: (width: Int, height: Int),
  _ scratch: ScratchFolder
) throws(Failure) {
  let place = { Folders.join(scratch.path, $0) }
  try write(Array(table.data.utf8), to: place("data"))
  try write(
    Array(program(table, picture.form, "\(size.width),\(size.height)").utf8),
    to: place("program"))
  // In its folder, so that no name of a folder is a part of a command. Nor does it hear what
  // somebody wants of gnuplot elsewhere.
  let call = try ProgramCall(
    ["sh", "-c", "cd -- \"$1\" && exec gnuplot -d program >picture", "sh", scratch.path],
    environment: ["GNUTERM": nil, "CDPATH": nil])
  ProgramCall.wait(for: [call]) { scratch.remove() }
  var bytes = try BoundedFile.given(place("picture"), limit: .max)
  if call.status != 0 || bytes.isEmpty { throw Failure("gnuplot", call.faults.last ?? "") }
  if picture.form == .svg {
    let drawing = String(decoding: bytes, as: UTF8.self)
    // gnuplot leaves the > of ]]> as it is, which XML does not, unless it makes text of its own
    // kind.
    if !drawing.holds("<![CDATA[") {
      bytes = Array(drawing.exchanging(text: "]]>", for: "]]&gt;").utf8)
    }
  }
  try put(bytes, picture.file)
}

private func program(
  _ table: PlotTable, _ form: PlotOptions.Picture.Form, _ size: String
) -> String {
  let terminal =
    switch form {
    case .png:
      """
      set terminal png size \(size) noenhanced
      if (strstrt(GPVAL_TERMINALS, ' pngcairo ') > 0) \\
        set terminal pngcairo size \(size) noenhanced font 'sans,10'
      """
    case .svg: "set terminal svg size \(size) noenhanced font 'sans,11' background 'white'"
    }
  let title =
    switch table.value {
    case .count: "actions"
    case .cost: "US dollars"
    case .tokens: "tokens"
    }
  let hasKey = table.columnCount > 1
  return """
    \(terminal)
    set datafile separator "\\t"
    set datafile commentschars ''
    set style data histograms
    set style histogram rowstacked
    set style fill solid 0.85 noborder
    set boxwidth 0.8
    set xtics noenhanced rotate by -40 nomirror
    set ytics nomirror
    set grid ytics
    set linetype 9 linecolor rgb '#999999'
    set border 3
    set yrange [0:*]
    set ylabel '\(title)'
    set xlabel '\(table.day)'
    \(hasKey ? "set key outside right top noenhanced autotitle columnhead" : "unset key")
    plot for [i=2:\(table.columnCount + 1)] 'data' using i:xtic(stringcolumn(1)) \\
      title columnheader(i)

    """
}

/// A pipe or a device stays one; a file is replaced when all of the picture is there.
private func put(_ bytes: [UInt8], _ file: String) throws(Failure) {
  let fault = Failure(file, "cannot be written")
  if let status = stat(following: file), !status.isRegular {
    guard write(bytes, to: clibc_open(file, O_WRONLY)) else { throw fault }
    return
  }
  // Nobody else can have put something there.
  let (descriptor, name) = temporaryFile(beside: file)
  guard descriptor >= 0 else { throw fault }
  let mask = umask(0)
  umask(mask)
  fchmod(descriptor, 0o666 & ~mask)
  guard write(bytes, to: descriptor), rename(name, file) == 0 else {
    unlink(name)
    throw fault
  }
}

/// Writes a new file of the scratch folder.
func write(_ bytes: [UInt8], to path: String) throws(Failure) {
  guard write(bytes, to: clibc_create(path)) else { throw Failure(code: systemError, place: path) }
}

/// Writes all, and closes the file.
private func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  guard descriptor >= 0 else { return false }
  defer { close(descriptor) }
  return (try? RecordWriter.write(bytes, to: descriptor, of: "")) != nil
}
