import CLibc
import CSSH2
import Core

extension SSH2Channel {
  /// How the remote command ended. Sure only once the host has closed the channel:
  /// libssh2 does not tell a status of 0 from none.
  static func status(_ handle: OpaquePointer) -> Ending {
    var name: UnsafeMutablePointer<CChar>?
    var count = 0
    libssh2_channel_get_exit_signal(handle, &name, &count, nil, nil, nil, nil)
    guard let name else {
      return .remoteExit(status: libssh2_channel_get_exit_status(handle))
    }
    defer { free(name) }
    return .remoteSignal(name: String(cString: name))
  }

  /// Gives the host all of the window at once.
  static func fillWindow(_ handle: OpaquePointer, _ session: SSH2Session) {
    var initial: UInt = 0
    let left = libssh2_channel_window_read_ex(handle, nil, &initial)
    if left < initial {
      let missing = initial - left
      session.ask { libssh2_channel_receive_window_adjust2(handle, missing, 1, nil) }
    }
  }

  /// Takes what libssh2 has of a stream: 0, or the number of an error.
  static func drain(
    _ handle: OpaquePointer, _ session: SSH2Session, _ stream: Int32, into queue: inout ByteQueue
  ) -> Int32 {
    while true {
      let room = queue.room(piece)
      let count = session.ask {
        libssh2_channel_read_ex(
          handle, stream, room.baseAddress?.assumingMemoryBound(to: CChar.self), room.count)
      }
      if count == 0 || count == Int(LIBSSH2_ERROR_EAGAIN) { return 0 }
      if count < 0 { return Int32(count) }
      queue.put(count)
    }
  }
}
