import Agent
import CLibc
import Core
import Web

/// Makes the stream of a profile.
struct AgentSources {
  let options: AgentTailOptions
  let settings: Settings
  let client: WebClient
  let program: String

  /// The stream of what an agent does.
  ///
  /// - Parameter name: of the profile; nil for the one in use.
  func stream(_ name: String?) throws(SettingsError) -> FollowedStream {
    var access = options.access
    access.profile = name
    let profile = try settings.profile(name)
    try profile.require(.follow, for: program)
    do throws(SettingsError) {
      let agent = try AgentAccess(access, profile, settings: settings, client: client)
      var wishes = options.wishes
      wishes.state = try state(of: profile.name)
      var stream = try profile.kind.backend.events(of: agent, wishes)
      if options.isSeveral { stream.profile = name }
      return stream
    } catch {
      guard options.isSeveral, let name else { throw error }
      throw SettingsError(name, error.message, error.status)
    }
  }

  /// The state file of a profile: the place itself, or where that is a folder, as
  /// it is for several, a file of the profile's name in it.
  private func state(of profile: String?) throws(SettingsError) -> ResumeFile? {
    if let kept = options.resume { return ResumeFile(kept, isFixed: true) }
    guard let place = options.state else { return nil }
    if options.isSeveral {
      try Folders.make(place)
    } else if !place.hasSuffix("/"), stat(following: place)?.isFolder != true {
      return ResumeFile(place)
    } else {
      try Folders.make(place)
    }
    return ResumeFile(Folders.join(place, Self.fileName(profile ?? "") + ".state"))
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
