// swift-tools-version: 6.3
import Foundation
import PackageDescription

// Set by the Makefile where the C library can be linked statically: the commands
// that only read and write records then start without a dynamic loader (half the
// start-up time). Everything works without it.
let fullyStatic = Context.environment["AGENTUTILS_STATIC"] == "1"

// The clients alone, for a machine that needs no server: leaves out agent-serve
// and the libraries that only it depends on.
let withServe = Context.environment["AGENTUTILS_WITHOUT_SERVE"] != "1"

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  // What Swift 7 will ask for: existentials say `any`, a module is shown on only where
  // that is said, a member is seen where its module is imported, and an async function
  // runs where its caller does.
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// Homebrew's wslay has a file for pkg-config, Debian's has none and needs none. That of cmark-gfm
// names its shared library, which costs the other commands of its program time at each start.
#if os(macOS)
  let (wslay, cmark): (String?, String?) = ("libwslay", "libcmark-gfm")
#else
  let (wslay, cmark): (String?, String?) = (nil, nil)
#endif

// For what waits for other machines.
let size: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

// Flags of the linker that make the programs smaller, with commas between: see .ci/lean.
let leanFlags = (Context.environment["AGENTUTILS_LEAN"] ?? "").split(separator: ",")
let lean: [LinkerSetting] =
  leanFlags.isEmpty
  ? []
  : [
    .unsafeFlags(
      ["-use-ld=lld", "-Xclang-linker", "-static-libgcc"]
        + leanFlags.flatMap { ["-Xlinker", String($0)] },
      .when(configuration: .release))
  ]
let staticLink: [LinkerSetting] =
  fullyStatic ? [.unsafeFlags(["-static-executable"], .when(configuration: .release))] : []

let markdown =
  fullyStatic
  ? [":libcmark-gfm-extensions.a", ":libcmark-gfm.a"] : ["cmark-gfm-extensions", "cmark-gfm"]

// The rooms of Sources/Agent, and what of them is of which target. Besides there are pages, and the
// sources of the other targets, about which the builder would warn.
let rooms = among([""]) {
  !$0.hasSuffix(".swift") && !$0.hasSuffix(".md") && $0 != "Turns" && $0 != "Costs"
}
let files = among(rooms.map { "\($0)/" }) { _ in true }
let turns =
  ["Turns", "Costs"] + files.filter { $0.hasSuffix("/Turns") || $0.hasSuffix("/Costs") }
let kinds = ["AgentPlace.swift", "Kinds.swift"] + files.filter { $0.hasSuffix("Kind.swift") }
let contracts = files.filter { $0.hasSuffix(".md") }
let all = among([""]) { !rooms.contains($0) } + files
let notTurns = all.filter { !turns.contains($0) }
let notKinds = all.filter { !kinds.contains($0) }

/// The files and folders of some folders of Sources/Agent, each of which ends in a slash.
func among(_ folders: [String], where isWanted: (String) -> Bool) -> [String] {
  folders.flatMap { folder in
    let path = Context.packageDirectory + "/Sources/Agent/" + folder
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.map { folder + $0 }.filter(isWanted)
  }.sorted()
}

/// A command: a library of its own, and what it needs.
struct Command {
  let name: String
  let needs: [Target.Dependency]

  init(_ name: String, _ needs: Target.Dependency...) {
    self.name = name
    self.needs = ["Core", "Kinds"] + needs
  }
}

/// The programs, each of the commands that load the same libraries: what is in all of them,
/// Swift's library above all, is there but once. The Makefile has the same table.
let programs: [(name: String, commands: [Command], link: [LinkerSetting])] = [
  // What reads and writes records, and needs no library that is not in the program itself.
  (
    "agentutils-records",
    [
      // Turns: what the answers in transcripts cost.
      Command("action-filter", "Records", "Archive", "Turns", "CLibc"),
      Command("action-format", "Records", "Screen"),
      Command("turn-fold", "Records", "Turns"),
      Command("turn-format", "Records", "Screen"),
      // Turns: what tasks are on a personal data server.
      Command("task", "Records", "Screen", "Turns"),
      Command("script-options", "CLibc"),
      Command("agent-status", "Screen", "CLibc"),
      Command("agent-setup", "CLibc"),
      Command("mail-draft", "CLibc"),
      Command("agent-plot", "CLibc"),
      Command("agentutils", "CLibc"),
    ], staticLink
  ),
  // libcurl, which loads thirty libraries.
  (
    "agentutils-web",
    [
      Command("sse-tail", "Web", "Agent"),
      Command("ws-tail", "Records", "Web", "Agent"),
      Command("agent-tail", "Web", "Agent"),
      Command("agent-chat", "Records", "Screen", "Web", "Agent", "CEdit"),
      // Web: what ntfy is sent. Turns: what Claude Code asks.
      Command("agent-notify", "Records", "Screen", "Turns", "Web", "Agent", "CLibc"),
      Command("voice-state", "Records", "Screen", "Web", "Agent"),
      Command("agent-call", "Records", "Screen", "Web", "Agent"),
      // Turns: what Claude Code asks.
      Command("agent-approve", "Records", "Screen", "Turns", "Web", "Agent"),
      Command("mem-search", "Records", "Screen", "Web", "Agent"),
      Command("clip-transcribe", "Records", "Web", "Agent", "CLibc"),
      // Web: the audio of a voice server.
      Command("reply-narrate", "Prose", "Records", "Turns", "Web", "Agent", "CLibc"),
      Command("outbox", "Records", "Screen", "Web", "Agent"),
      Command("pds-record", "Records", "Web", "Agent", "CLibc"),
    ], []
  ),
  // libssh2 and libnats: other machines, without libcurl.
  (
    "agentutils-remote",
    [
      Command("tmux-attach", "Records", "Screen", "Shell"),
      // Turns: where transcripts are, and what a line of one is.
      Command("transcript-tail", "Records", "Turns", "Shell", "CLibc"),
      // CCrypto: whether a file from a bus is what it was.
      Command("share-inbox", "Records", "Screen", "Shell", "CCrypto"),
      Command("bus-put", "Records", "Bus", "CLibc"),
      Command("bus-get", "Records", "Bus", "CLibc"),
      // The charsets of iconv(3) are files of the system, which a static program may not fit. Prose:
      // the names of characters in HTML.
      Command("mail-triage", "Records", "Prose", "CLibc"),
      // CCrypto: the signature of a token.
      Command("voice-token", "CLibc", "CCrypto"),
    ], []
  ),
]

var products: [Product] = programs.map { .executable(name: $0.name, targets: [$0.name]) }

var targets: [Target] = [
  // What Swift cannot import from libc: getopt_long, stderr, signals, terminal.
  .target(
    name: "CLibc",
    linkerSettings: [.linkedLibrary("m"), .linkedLibrary("iconv", .when(platforms: [.macOS]))]),
  // JSON values: exact, small, in every distribution.
  .systemLibrary(
    name: "CJansson", pkgConfig: "jansson",
    providers: [.apt(["libjansson-dev"]), .brew(["jansson"])]),
  // HTTP, TLS, proxies, content decoding.
  .systemLibrary(
    name: "CCurl", pkgConfig: "libcurl",
    providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
  // The frames of WebSockets: headers, lengths, masks.
  .systemLibrary(
    name: "CWslay", pkgConfig: wslay,
    providers: [.apt(["libwslay-dev"]), .brew(["wslay"])]),
  // SSH in the process.
  .systemLibrary(
    name: "CSSH2", pkgConfig: "libssh2",
    providers: [.apt(["libssh2-1-dev"]), .brew(["libssh2"])]),
  // Digests for host keys and the WebSocket handshake, the key by which gateways know a
  // device. libssh2 and libcurl bring it along.
  .systemLibrary(
    name: "CCrypto", pkgConfig: "libcrypto",
    providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
  // A line to type in, with editing and history. Of the conversation of agent-chat alone.
  .systemLibrary(
    name: "CEdit", pkgConfig: "libedit",
    providers: [.apt(["libedit-dev"]), .brew(["libedit"])]),

  // The bus: NATS and its JetStream. Of the module Bus alone.
  .systemLibrary(
    name: "CNats", pkgConfig: "libnats",
    providers: [.apt(["libnats-dev"]), .brew(["cnats"])]),

  // Markdown, as GitHub reads it. Of the module Prose alone.
  .systemLibrary(
    name: "CCMark", pkgConfig: cmark,
    providers: [
      .apt(["libcmark-gfm-dev", "libcmark-gfm-extensions-dev"]), .brew(["cmark-gfm"]),
    ]),

  // Frames of zstd, read and written in the process: the files of an archive.
  .systemLibrary(
    name: "CZstd", pkgConfig: "libzstd",
    providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),

  // What is known of each kind of agent, without asking one: its sources stand in the rooms of the
  // backends.
  .target(
    name: "Kinds", path: "Sources/Agent", exclude: notKinds, sources: kinds, swiftSettings: strict),
  .target(name: "Core", dependencies: ["CLibc", "CJansson", "Kinds"], swiftSettings: strict),
  .target(name: "Records", dependencies: ["Core", "CLibc"], swiftSettings: strict),
  // What a voice reads aloud of Markdown.
  .target(
    name: "Prose", dependencies: ["Core", "CCMark"], swiftSettings: strict + size,
    linkerSettings: markdown.map { .linkedLibrary($0) }),
  // The files of an archive: packed, with an index. Of action-filter alone.
  .target(
    name: "Archive", dependencies: ["Core", "CLibc", "CZstd"], exclude: ["CONTRACT.md"],
    swiftSettings: strict),
  .target(name: "Screen", dependencies: ["Core", "Records"], swiftSettings: strict + size),
  // The frames of WebSockets, for both sides, without the network: a server links no libcurl
  // for them.
  .target(
    name: "Frames", dependencies: ["Core", "CLibc", "CCrypto", "CWslay"], swiftSettings: strict),
  // CCrypto: the fingerprints of certificates.
  .target(
    name: "Web", dependencies: ["Core", "Frames", "CCurl", "CCrypto"], swiftSettings: strict),
  // What backends tell of turns, without the network: its sources stand in the rooms of the
  // backends, and the commands that only read records link no libcurl for them.
  .target(
    name: "Turns", dependencies: ["Core", "Records", "CLibc"], path: "Sources/Agent",
    exclude: notTurns, sources: turns, swiftSettings: strict + size),
  .target(
    name: "Agent",
    dependencies: ["Core", "Kinds", "Records", "Turns", "Frames", "Web", "CLibc", "CCrypto"],
    exclude: contracts + turns + kinds, swiftSettings: strict + size),
  // Turns: what agents tell of themselves on their host.
  .target(
    name: "Shell", dependencies: ["Core", "Records", "Turns", "CLibc", "CSSH2", "CCrypto"],
    swiftSettings: strict + size),
  // CCrypto: message ids are digests, and a key signs for its public half.
  .target(
    name: "Bus", dependencies: ["Core", "Records", "CLibc", "CCrypto", "CNats"],
    swiftSettings: strict + size),

  // What the tests of several targets need.
  .target(
    name: "TestSupport", dependencies: ["CLibc"], path: "Tests/TestSupport", swiftSettings: strict),
  .testTarget(
    name: "CoreTests",
    dependencies: [
      "Archive", "Core", "Kinds", "Prose", "Records", "Screen", "Turns", "CLibc",
      "TestSupport",
    ], swiftSettings: strict),
  .testTarget(
    name: "AgentTests",
    dependencies: [
      "Agent", "Bus", "Core", "Frames", "Kinds", "Records", "Screen", "Shell", "Turns", "Web",
      "CLibc",
      "TestSupport",
    ], swiftSettings: strict),
  .testTarget(
    name: "CommandTests",
    dependencies: [
      "sse-tail", "agent-tail", "agent-chat", "agent-notify", "action-filter", "action-format",
      "turn-format", "voice-state", "agent-call", "agent-approve", "mem-search", "reply-narrate",
      "tmux-attach", "share-inbox", "transcript-tail", "mail-triage", "task", "Agent",
      "Archive", "Core", "Kinds", "Records", "Screen", "Shell", "Web", "CLibc",
      "TestSupport",
    ] + (withServe ? ["agent-serve"] : []), exclude: withServe ? [] : ["Serve"],
    swiftSettings: strict),
]

// What waits for others or for a person is to be small rather than quick.
let small: Set = [
  "agent-approve", "agent-call", "agent-chat", "agent-notify", "agent-plot", "agent-setup",
  "action-format", "agent-tail", "bus-get", "bus-put", "sse-tail", "transcript-tail", "turn-fold",
  "ws-tail",
  "agent-status", "agentutils", "clip-transcribe", "mail-draft", "mail-triage", "mem-search",
  "outbox", "pds-record", "reply-narrate", "script-options", "share-inbox", "task", "tmux-attach",
  "turn-format", "voice-state", "voice-token",
]

for program in programs {
  targets += program.commands.map {
    .target(
      name: $0.name, dependencies: $0.needs,
      swiftSettings: strict + (small.contains($0.name) ? size : []))
  }
  targets.append(
    .executableTarget(
      name: program.name,
      dependencies: ["Core"] + program.commands.map { .byName(name: $0.name) },
      swiftSettings: strict, linkerSettings: program.link + lean))
}

if withServe {
  products.append(.executable(name: "agent-serve", targets: ["agent-serve"]))
  targets += [
    // SQLite with write-ahead log and FTS5 for agent-serve's store.
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    // Which sockets of agent-serve are ready, and what time has come.
    .systemLibrary(
      name: "CEvent", pkgConfig: "libevent_core",
      providers: [.apt(["libevent-dev"]), .brew(["libevent"])]),
    // The normal forms of Unicode, for words that are looked for.
    .systemLibrary(
      name: "CUTF8Proc", pkgConfig: "libutf8proc",
      providers: [.apt(["libutf8proc-dev"]), .brew(["utf8proc"])]),
    .executableTarget(
      name: "agent-serve",
      dependencies: [
        // CCrypto: digests, and the Ed25519 signatures with which devices sign in.
        "Core", "Prose", "Records", "Frames", "CLibc", "CCrypto", "CEvent", "CSQLite",
        "CUTF8Proc",
      ],
      swiftSettings: strict, linkerSettings: lean),
  ]
}

let package = Package(
  name: "agentutils", platforms: [.macOS(.v15)], products: products, targets: targets)
