import CLibc
import CSSH2
import Core

/// libssh2's side of a channel, and the only one to hold its pointer. What cannot go on
/// returns `LIBSSH2_ERROR_EAGAIN` and is called again with the same arguments.
///
/// The memory is the session's, which frees what `free` has not been called for.
final class SSH2Handle {
  private let pointer: OpaquePointer
  private let session: SSH2Session

  private init(_ pointer: OpaquePointer, _ session: SSH2Session) {
    self.pointer = pointer
    self.session = session
  }

  /// libssh2 can open one at a time; nil when it cannot go on, see `SSH2Session.lastError`.
  static func open(_ session: SSH2Session, window: UInt32) -> SSH2Handle? {
    let owner = session.pointer
    let place = session.ask {
      Int(
        bitPattern: libssh2_channel_open_ex(
          owner, "session", 7, window, UInt32(LIBSSH2_CHANNEL_PACKET_DEFAULT), nil, 0))
    }
    guard !session.wire.isDamaged, let pointer = OpaquePointer(bitPattern: place) else {
      return nil
    }
    return SSH2Handle(pointer, session)
  }

  private func ask(_ call: @escaping (OpaquePointer) -> Int32) -> Int32 {
    session.ask { [pointer] in call(pointer) }
  }

  // MARK: To the host

  func mergeStreams() {
    libssh2_channel_handle_extended_data2(pointer, LIBSSH2_CHANNEL_EXTENDED_DATA_MERGE)
  }

  func requestTerminal(_ term: String, _ size: WindowSize) -> Int32 {
    session.ask { [pointer] in
      libssh2_channel_request_pty_ex(
        pointer, term, UInt32(term.utf8.count), nil, 0, Int32(size.columns), Int32(size.rows), 0, 0)
    }
  }

  func resize(_ size: WindowSize) -> Int32 {
    session.ask { [pointer] in
      libssh2_channel_request_pty_size_ex(pointer, Int32(size.columns), Int32(size.rows), 0, 0)
    }
  }

  func start(_ command: String) -> Int32 {
    session.ask { [pointer] in
      libssh2_channel_process_startup(pointer, "exec", 4, command, UInt32(command.utf8.count))
    }
  }

  /// A request that comes too late to be granted; what counts is the answer, which
  /// libssh2 takes out of its queue (of those to a keepalive it keeps every one).
  func probe() -> Int32 {
    session.ask { [pointer] in libssh2_channel_setenv_ex(pointer, "LC_ALIVE", 8, "", 0) }
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Int {
    session.ask { [pointer] in
      libssh2_channel_write_ex(
        pointer, 0, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
  }

  func finishWriting() -> Int32 { ask(libssh2_channel_send_eof) }

  // MARK: From the host

  /// Takes what libssh2 has of a stream, 0 or `SSH_EXTENDED_DATA_STDERR`.
  func drain(_ stream: Int32, into queue: inout ByteQueue) -> Int32 {
    while true {
      let room = queue.room(SSH2Channel.piece)
      let count = session.ask { [pointer] in
        libssh2_channel_read_ex(
          pointer, stream, room.baseAddress?.assumingMemoryBound(to: CChar.self), room.count)
      }
      if count == 0 || count == Int(LIBSSH2_ERROR_EAGAIN) { return 0 }
      if count < 0 { return Int32(count) }
      queue.put(count)
    }
  }

  /// Makes libssh2 read from the connection, on a channel that has nothing more to say.
  func readOn() -> Int32 {
    session.ask { [pointer] in
      var byte: CChar = 0
      return Int32(libssh2_channel_read_ex(pointer, 0, &byte, 1))
    }
  }

  var hasEnded: Bool { libssh2_channel_eof(pointer) == 1 }

  func waitForEnd() -> Int32 { ask(libssh2_channel_wait_eof) }

  func waitUntilClosed() -> Int32 { ask(libssh2_channel_wait_closed) }

  /// How the remote command ended. Sure only once the host has closed the channel:
  /// libssh2 does not tell a status of 0 from none.
  var ending: Ending {
    var name: UnsafeMutablePointer<CChar>?
    var count = 0
    libssh2_channel_get_exit_signal(pointer, &name, &count, nil, nil, nil, nil)
    guard let name else {
      return .remoteExit(status: libssh2_channel_get_exit_status(pointer))
    }
    defer { CLibc.free(name) }
    return .remoteSignal(name: String(cString: name))
  }

  func fillWindow() {
    var initial: UInt = 0
    let left = libssh2_channel_window_read_ex(pointer, nil, &initial)
    guard left < initial else { return }
    session.ask { [pointer, initial] in
      libssh2_channel_receive_window_adjust2(pointer, initial - left, 1, nil)
    }
  }

  // MARK: The end

  func close() -> Int32 { ask(libssh2_channel_close) }

  /// Frees what is closed. Nothing may be called after it.
  func free() { _ = ask(libssh2_channel_free) }
}
