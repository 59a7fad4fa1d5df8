import CLibc
import CSSH2

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
}
