import Agent
import CLibc
import Core
import Web

/// Makes the stream of a profile.
struct AgentSources {
  private let options: AgentTailOptions
  private let settings: Settings
  private let client: WebClient

  init(_ options: AgentTailOptions, settings: Settings, client: WebClient) {
    self.options = options
    self.settings = settings
    self.client = client
  }

  /// The stream of what an agent does.
  ///
  /// - Parameter name: of the profile; nil for the one in use.
  /// - Throws: `SettingsError`.
  func stream(_ name: String?) throws(SettingsError) -> FollowedStream {
    let activity = DashboardStream.activity
    var access = options.access
    access.profile = name
    let agent = try AgentAccess(
      access, for: .follow, settings: settings, client: client, program: "agent-tail")
    let (profile, backend) = (agent.profile, agent.backend)
    var request: Request
    do throws(AddressError) {
      request = Request(try activity.address(at: backend.base))
    } catch {
      throw SettingsError("the profile's url", error.reason)
    }
    let source = activity.source(profile: profile.name, address: request.address)
    let resume = try state(of: profile.name).map { path throws(SettingsError) in
      try ResumePoint(path: path, source: source)
    }
    backend.authorize(&request)
    var stream = FollowedStream(request, backend)
    if options.isSeveral { stream.profile = name }
    stream.usualSilence = DashboardStream.usualSilence
    stream.resume = resume
    stream.lastEventID = resume?.state.lastEventID ?? ""
    stream.continuity = activity.continuity(
      client, request, base: backend.base, resumingAt: resume?.state.newest)
    return stream
  }

  /// The state file of a profile: the place itself, or where that is a folder, as
  /// it is for several, a file of the profile's name in it.
  private func state(of profile: String?) throws(SettingsError) -> String? {
    guard let place = options.state else { return nil }
    if options.isSeveral {
      try Folders.make(place)
    } else if !place.hasSuffix("/"), stat(following: place)?.isFolder != true {
      return place
    } else {
      try Folders.make(place)
    }
    return Folders.join(place, Self.fileName(profile ?? "") + ".state")
  }

  /// A name as that of a file: what may mean something in a path is `%2F`.
  static func fileName(_ name: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    for (index, byte) in name.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), 0x80...:
        text.append(byte)
      case UInt8(ascii: ".") where index > 0: text.append(byte)
      default: text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
