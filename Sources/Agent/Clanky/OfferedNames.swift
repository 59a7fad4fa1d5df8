import CLibc
public import Core
import Kinds
import Records

/// Names that a shell may offer, asked of the agent that the configuration names by
/// itself. Where that takes long or fails, nothing is offered: somebody waits for a Tab.
public enum OfferedNames {
  /// Seconds for all of it, a token's command included.
  private static let most: UInt32 = 2
  private static let events = 200

  /// The guilds that the agent is in.
  public static let guilds = Completion.live {
    look { caller throws(Failure) in try caller.guilds() }
  }

  /// The people whose names are known.
  public static let users = Completion.live {
    look { caller throws(Failure) in try caller.users(limit: events) }
  }

  private static func look(_ ask: (Caller) throws(Failure) -> [ToldName]) -> [String] {
    guard let profile = try? Settings().profile(nil), profile.kind == .clanky else { return [] }
    // Whatever it is that hangs; a shell would tell of a signal.
    signal(SIGALRM) { _ in _exit(0) }
    alarm(most)
    let silent = Diagnostics(program: "agentutils", descriptor: -1)
    let caller = try? Caller(
      AccessOptions(), for: .call, maxTime: Double(most), diagnostics: silent)
    return words((caller.flatMap { try? ask($0) }) ?? [])
  }

  /// A word for each: its name where that is a word and unique, else its id.
  static func words(_ told: [ToldName]) -> [String] {
    let keys = told.reduce(into: [NameKey: Set<String>]()) {
      $0[NameKey($1.name), default: []].insert($1.id)
    }
    var known: Set<String> = []
    return told.compactMap { one in
      let word = NameKey.word(one.name)
      let isClear = keys[NameKey(one.name)]?.count == 1
      let offered =
        isClear && word.count <= 60 && !NameKey.isID(word) && Completion.isPlain(word)
        ? word : one.id
      return known.insert(offered).inserted ? offered : nil
    }
  }
}
