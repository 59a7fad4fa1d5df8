// swift-tools-version: 6.3
import Foundation
import PackageDescription

// Set by the Makefile where the C library can be linked statically: the two
// commands that only read and write records then start without a dynamic
// loader (half the start-up time). Everything works without it.
let fullyStatic = Context.environment["AGENTUTILS_STATIC"] == "1"

// The clients alone, for a machine that needs no server: leaves out agent-serve
// and the packages that only it depends on.
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

// Homebrew's wslay has a file for pkg-config, Debian's has none and needs none.
#if os(macOS)
  let wslay: String? = "libwslay"
#else
  let wslay: String? = nil
#endif

let staticLink: [LinkerSetting] =
  fullyStatic ? [.unsafeFlags(["-static-executable"], .when(configuration: .release))] : []

// The folders of the target Turns in that of the target Agent, and what else is there: pages,
// and Agent's own sources, about which the builder would warn.
let rooms = ["Clanky", "OpenClaw", "Pincer", "Joelclaw", "Claude"]
let turns = ["Turns"] + rooms.map { "\($0)/Turns" }
let others = ["", "Riff/", "PDS/", "Outbox/"]
let contracts = among(others + rooms.map { "\($0)/" }) { $0.hasSuffix(".md") }
let notTurns = among([""] + rooms.map { "\($0)/" }) { !rooms.contains($0) && !turns.contains($0) }

/// The files and folders of some folders of Sources/Agent, each of which ends in a slash.
func among(_ folders: [String], where isWanted: (String) -> Bool) -> [String] {
  folders.flatMap { folder in
    let path = Context.packageDirectory + "/Sources/Agent/" + folder
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.map { folder + $0 }.filter(isWanted)
  }.sorted()
}

var products: [Product] = [
  .executable(name: "sse-tail", targets: ["sse-tail"]),
  .executable(name: "ws-tail", targets: ["ws-tail"]),
  .executable(name: "agent-tail", targets: ["agent-tail"]),
  .executable(name: "agent-chat", targets: ["agent-chat"]),
  .executable(name: "action-filter", targets: ["action-filter"]),
  .executable(name: "action-format", targets: ["action-format"]),
  .executable(name: "turn-fold", targets: ["turn-fold"]),
  .executable(name: "turn-format", targets: ["turn-format"]),
  .executable(name: "notify-route", targets: ["notify-route"]),
  .executable(name: "agent-notify", targets: ["agent-notify"]),
  .executable(name: "mail-triage", targets: ["mail-triage"]),
  .executable(name: "voice-state", targets: ["voice-state"]),
  .executable(name: "agent-call", targets: ["agent-call"]),
  .executable(name: "agent-approve", targets: ["agent-approve"]),
  .executable(name: "mem-search", targets: ["mem-search"]),
  .executable(name: "clip-transcribe", targets: ["clip-transcribe"]),
  .executable(name: "transcript-tail", targets: ["transcript-tail"]),
  .executable(name: "reply-narrate", targets: ["reply-narrate"]),
  .executable(name: "outbox", targets: ["outbox"]),
  .executable(name: "pds-record", targets: ["pds-record"]),
  .executable(name: "task-format", targets: ["task-format"]),
  .executable(name: "tmux-attach", targets: ["tmux-attach"]),
  .executable(name: "share-inbox", targets: ["share-inbox"]),
  .executable(name: "bus-put", targets: ["bus-put"]),
  .executable(name: "bus-get", targets: ["bus-get"]),
]

var targets: [Target] = [
  // What Swift cannot import from libc: getopt_long, stderr, signals, terminal.
  .target(name: "CLibc", linkerSettings: [.linkedLibrary("m")]),
  // JSON values: exact, small, in every distribution.
  .systemLibrary(
    name: "CJansson", pkgConfig: "jansson",
    providers: [.apt(["libjansson-dev"]), .brew(["jansson"])]),
  // INI files: the parser most C programs use.
  .systemLibrary(
    name: "CInih", pkgConfig: "inih",
    providers: [.apt(["libinih-dev"]), .brew(["inih"])]),
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

  .target(name: "Core", dependencies: ["CLibc", "CJansson", "CInih"], swiftSettings: strict),
  .target(name: "Records", dependencies: ["Core", "CLibc"], swiftSettings: strict),
  .target(name: "Screen", dependencies: ["Core", "Records"], swiftSettings: strict),
  .target(
    name: "Web", dependencies: ["Core", "CCurl", "CCrypto", "CWslay"], swiftSettings: strict),
  // What backends tell of turns, without the network: its sources stand in the rooms of the
  // backends, and the commands that only read records link no libcurl for them.
  .target(
    name: "Turns", dependencies: ["Core", "Records", "CLibc"], path: "Sources/Agent",
    exclude: notTurns, sources: turns, swiftSettings: strict),
  .target(
    name: "Agent", dependencies: ["Core", "Records", "Turns", "Web", "CLibc", "CCrypto"],
    exclude: contracts + turns, swiftSettings: strict),
  // What a person is told of, and where it goes.
  .target(
    name: "Notices", dependencies: ["Core", "Records", "Turns", "CLibc"], swiftSettings: strict),
  .target(
    name: "Shell", dependencies: ["Core", "Records", "CLibc", "CSSH2", "CCrypto"],
    swiftSettings: strict),
  // CCrypto: message ids are digests, and a key signs for its public half.
  .target(
    name: "Bus", dependencies: ["Core", "Records", "CLibc", "CCrypto", "CNats"],
    swiftSettings: strict),

  .executableTarget(
    name: "sse-tail", dependencies: ["Core", "Web", "Agent"], swiftSettings: strict),
  .executableTarget(
    name: "ws-tail", dependencies: ["Core", "Records", "Web", "Agent"], swiftSettings: strict),
  .executableTarget(
    name: "agent-tail", dependencies: ["Core", "Web", "Agent"], swiftSettings: strict),
  .executableTarget(
    name: "agent-chat", dependencies: ["Core", "Records", "Screen", "Web", "Agent", "CEdit"],
    swiftSettings: strict),
  .executableTarget(
    name: "action-filter", dependencies: ["Core", "Records"], swiftSettings: strict,
    linkerSettings: staticLink),
  .executableTarget(
    name: "action-format", dependencies: ["Core", "Records", "Screen"], swiftSettings: strict,
    linkerSettings: staticLink),
  .executableTarget(
    name: "turn-fold", dependencies: ["Core", "Records", "Turns"], swiftSettings: strict,
    linkerSettings: staticLink),
  .executableTarget(
    name: "turn-format", dependencies: ["Core", "Records", "Screen"], swiftSettings: strict,
    linkerSettings: staticLink),
  .executableTarget(
    name: "notify-route", dependencies: ["Core", "Records", "Notices"], swiftSettings: strict,
    linkerSettings: staticLink),
  .executableTarget(
    name: "agent-notify",
    // Web: what ntfy is sent.
    dependencies: ["Core", "Records", "Notices", "Screen", "Web", "Agent", "CLibc"],
    swiftSettings: strict),
  .executableTarget(
    name: "mail-triage", dependencies: ["Core", "Records", "CLibc"], swiftSettings: strict,
    linkerSettings: staticLink),
  .executableTarget(
    name: "voice-state", dependencies: ["Core", "Records", "Screen", "Web", "Agent"],
    swiftSettings: strict),
  .executableTarget(
    name: "agent-call", dependencies: ["Core", "Records", "Screen", "Web", "Agent"],
    swiftSettings: strict),
  .executableTarget(
    name: "agent-approve", dependencies: ["Core", "Records", "Screen", "Web", "Agent"],
    swiftSettings: strict),
  .executableTarget(
    name: "clip-transcribe", dependencies: ["Core", "Records", "Web", "Agent", "CLibc"],
    swiftSettings: strict),
  .executableTarget(
    name: "reply-narrate",
    // Web: the audio of a voice server.
    dependencies: ["Core", "Records", "Turns", "Web", "Agent", "CLibc"], swiftSettings: strict),
  .executableTarget(
    name: "outbox", dependencies: ["Core", "Records", "Screen", "Web", "Agent"],
    swiftSettings: strict),
  .executableTarget(
    name: "pds-record", dependencies: ["Core", "Records", "Web", "Agent", "CLibc"],
    swiftSettings: strict),
  .executableTarget(
    // Turns: what tasks are on a personal data server.
    name: "task-format", dependencies: ["Core", "Records", "Screen", "Turns"],
    swiftSettings: strict, linkerSettings: staticLink),
  .executableTarget(
    name: "mem-search", dependencies: ["Core", "Records", "Screen", "Web", "Agent"],
    swiftSettings: strict),
  .executableTarget(
    name: "tmux-attach", dependencies: ["Core", "Records", "Screen", "Shell"], swiftSettings: strict
  ),
  .executableTarget(
    // Turns: where transcripts are, and what a line of one is.
    name: "transcript-tail", dependencies: ["Core", "Records", "Turns", "Shell", "CLibc"],
    swiftSettings: strict),
  .executableTarget(
    name: "share-inbox",
    // CCrypto: whether a file from a bus is what it was.
    dependencies: ["Core", "Records", "Screen", "Shell", "CCrypto"], swiftSettings: strict),
  .executableTarget(
    name: "bus-put", dependencies: ["Core", "Records", "Bus", "CLibc"], swiftSettings: strict),
  .executableTarget(
    name: "bus-get", dependencies: ["Core", "Records", "Bus", "CLibc"], swiftSettings: strict),

  // What the tests of several targets need.
  .target(
    name: "TestSupport", dependencies: ["CLibc"], path: "Tests/TestSupport", swiftSettings: strict),
  .testTarget(name: "CoreTests", dependencies: ["Core", "TestSupport"], swiftSettings: strict),
  .testTarget(
    name: "RecordsTests", dependencies: ["Core", "Records", "CLibc", "TestSupport"],
    swiftSettings: strict),
  .testTarget(name: "ScreenTests", dependencies: ["Records", "Screen"], swiftSettings: strict),
  .testTarget(name: "WebTests", dependencies: ["Web", "CLibc"], swiftSettings: strict),
  .testTarget(
    name: "AgentTests",
    dependencies: ["Agent", "Core", "Records", "Screen", "Turns", "Web", "CLibc"],
    swiftSettings: strict),
  .testTarget(
    name: "TurnsTests", dependencies: ["Core", "Records", "Turns", "TestSupport"],
    swiftSettings: strict),
  .testTarget(
    name: "NoticesTests",
    dependencies: ["CLibc", "Core", "Records", "Notices", "agent-notify"], swiftSettings: strict),
  .testTarget(
    name: "BusTests", dependencies: ["Bus", "Core", "Records"], swiftSettings: strict),
  .testTarget(name: "ShellTests", dependencies: ["Shell", "TestSupport"], swiftSettings: strict),
  .testTarget(
    name: "CommandTests",
    dependencies: [
      "sse-tail", "ws-tail", "agent-tail", "agent-chat", "action-filter", "action-format",
      "turn-format", "voice-state",
      "agent-call",
      "agent-approve", "mem-search", "reply-narrate", "tmux-attach", "share-inbox",
      "transcript-tail", "mail-triage", "task-format", "TestSupport",
    ], swiftSettings: strict),
]

var dependencies: [Package.Dependency] = []

if withServe {
  products.append(.executable(name: "agent-serve", targets: ["agent-serve"]))
  dependencies += [
    // The sockets and the HTTP of agent-serve: an event loop, a parser that many
    // have attacked (llhttp).
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
    // SQLite with write-ahead log and FTS5 for agent-serve's store.
    .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
  ]
  targets += [
    .executableTarget(
      name: "agent-serve",
      dependencies: [
        // Web: the vectors of facts come from a server, over HTTP or HTTPS.
        // CCrypto: digests, and the Ed25519 signatures with which devices sign in.
        "Core", "Records", "Web", "CLibc", "CCrypto",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        // The frames of the gateway's WebSockets.
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ServeTests",
      dependencies: [
        "agent-serve",
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ], swiftSettings: strict),
  ]
}

let package = Package(
  name: "agentutils", platforms: [.macOS(.v14)], products: products, dependencies: dependencies,
  targets: targets)
