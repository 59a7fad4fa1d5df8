import Core

/// One command on the other side of a link. Its bytes are taken and given in
/// pieces, as many as there is room for, so that both directions hold back when
/// the other end is slow: what is not read here stays at the host.
public protocol Channel: AnyObject {
  /// Why it ended; set once everything that came before has been read from here.
  var ending: Ending? { get }

  /// Whether the remote command has been started: before, bytes that come are
  /// the transport's own talk (a question for a passphrase), not the command's.
  var isStarted: Bool { get }

  /// Takes what has come from the remote's standard output (a terminal's both).
  ///
  /// - Returns: the number of bytes, 0 when there are none now.
  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int

  /// Takes what has come from the remote's standard error.
  func readError(_ buffer: UnsafeMutableRawBufferPointer) -> Int

  /// Gives bytes to the remote's standard input.
  ///
  /// - Returns: how many were taken; 0 when there is no room now.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int

  /// How many bytes `write` would take now.
  var room: Int { get }

  /// Ends the remote's standard input, behind what was written.
  func finishWriting()

  /// Whether all bytes written have left our queues on this machine.
  var isDrained: Bool { get }

  /// Tells the remote terminal its size; the last one wins.
  func resize(_ size: WindowSize)

  /// Gives the channel up; the command at the other end gets a hang-up. `ending`
  /// is `closed` unless it had ended before.
  func close()
}
