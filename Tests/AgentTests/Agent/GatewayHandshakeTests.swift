import CLibc
import Core
import Records
import Testing
import Web

@testable import Agent

/// The way in (Agent/OpenClaw/CONTRACT.md 4 and 5).
@Suite struct GatewayHandshakeTests {
  /// The key of the bytes 0 to 31.
  private let identity = DeviceIdentity(seed: Array(0..<32))!
  private let device = "56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c"
  private let nonce = "7b1f0c52-1c1e-4a55-9a8f-1de0a40f2c11"

  @Test func aDeviceIsKnownByTheDigestOfItsRawKey() {
    #expect(identity.id == device)
    #expect(Base64.url(identity.publicKey) == "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg")
  }

  @Test func theThirdTextIsSignedByteForByte() {
    let handshake = GatewayHandshake(
      identity: identity, scopes: [.read, .write, .approvals], caps: [], token: nil,
      deviceToken: nil)
    let text =
      "v3|\(device)|cli|cli|operator|operator.read,operator.write,operator.approvals"
      + "|1789000000000|gw-secret|\(nonce)|"
    #expect(
      handshake.signedText(token: "gw-secret", nonce: nonce, time: 1_789_000_000_000)
        == text + GatewayHandshake.platform + "|")
    // Ed25519 has one signature for a text.
    #expect(
      Base64.url(identity.signature(of: text + "linux|")!)
        == "9o12xkjrVqMctKfVl-oBM8FAd9Fc9UAm3KrfgFIPeg0AEml8SEcxm8RM35D2GcArlkYPwVSpDUS70eGA9wmfBQ"
    )
  }

  @Test func aKeyIsWhatOpensslReads() {
    let pem = DeviceIdentity.pem(Array(0..<32))
    #expect(
      pem.contains("MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"))
    #expect(DeviceIdentity.seed(pem: pem) == Array(0..<32))
    #expect(DeviceIdentity.seed(pem: pem.replacing("MC4C", with: "MC5C")) == nil)
    #expect(DeviceIdentity.seed(pem: "") == nil)
  }

  @Test func anObjectHasNoMemberThatAGatewayRefuses() throws {
    let handshake = GatewayHandshake(
      identity: identity, scopes: [.read], caps: ["tool-events"], token: nil, deviceToken: nil)
    let sent = try JSONValue.parse(text: handshake.parameters(nonce: "n", time: 5)!.text)
    #expect(
      sent.members.map(\.name).sorted() == [
        "caps", "client", "device", "maxProtocol", "minProtocol", "role", "scopes", "userAgent",
      ])
    #expect(
      sent["device"]?.members.map(\.name).sorted() == [
        "id", "nonce", "publicKey", "signature", "signedAt",
      ])
    #expect(
      sent["client"]?.members.map(\.name).sorted() == ["id", "mode", "platform", "version"])
  }

  @Test(
    arguments: [
      ("dt", "gw", "gw", "dt"), ("dt", nil, "dt", "dt"), (nil, "gw", "gw", nil),
    ] as [(String?, String?, String, String?)])
  func theFirstTokenIsTheSignedOne(
    stored: String?, own: String?, token: String, device: String?
  ) throws {
    let handshake = GatewayHandshake(
      identity: identity, scopes: [.read], caps: [], token: own.map { Secret($0) },
      deviceToken: stored.map { Secret($0) })
    let sent = try JSONValue.parse(text: handshake.parameters(nonce: "n", time: 5)!.text)
    #expect(sent["auth"]?["token"]?.string == token)
    #expect(sent["auth"]?["deviceToken"]?.string == device)
  }

  // MARK: - The answer

  private func error(_ json: String) -> GatewayError {
    Array(json.utf8).withUnsafeBytes { GatewayError(ScanValue($0)) }
  }

  @Test func theDetailsAreMoreExactThanTheTop() {
    let error = error(
      #"{"code":"NOT_PAIRED","message":"pairing required","details":{"code":"PAIRING_REQUIRED","reason":"not-paired","requestId":"pr-9"}}"#
    )
    #expect(error.isPairing)
    #expect(error.requestID == "pr-9")
    #expect(error.line == "pairing required (PAIRING_REQUIRED)")
  }

  @Test(
    arguments: [
      ("no", "no: operator.write is missing (MISSING_SCOPE)"),
      ("missing scope: operator.write", "missing scope: operator.write (MISSING_SCOPE)"),
    ])
  func theScopeThatIsMissingIsNamedOnce(message: String, line: String) {
    let details = #"{"code":"MISSING_SCOPE","missingScope":"operator.write"}"#
    let error = error(#"{"code":"FORBIDDEN","message":"\#(message)","details":\#(details)}"#)
    #expect(error.line == line)
  }

  @Test func whatCannotBeReadIsStillARefusal() {
    #expect(error("[]").line == "refused without a reason")
    #expect(error("{\"code\":7}").line == "refused without a reason")
  }

  @Test func aGreetingSaysWhatIsGranted() {
    let payload = Array(
      #"{"type":"hello-ok","protocol":4,"auth":{"scopes":["operator.read"],"deviceToken":"dt-42"},"policy":{"tickIntervalMs":15000},"features":{"methods":["health"]},"snapshot":{"sessionDefaults":{"defaultAgentId":"heron","mainKey":"main","mainSessionKey":"agent:heron:main"}}}"#
        .utf8)
    var hello = payload.withUnsafeBytes { GatewayHello(ScanValue($0)) }!
    #expect(hello.version == 4)
    #expect(hello.scopes == ["operator.read"])
    #expect(hello.deviceToken?.reveal() == "dt-42")
    #expect(hello.tick == 15)
    #expect(hello.knows("health") && !hello.knows("chat.send"))
    #expect(hello.sessionKey(thread: nil, agent: nil) == "agent:heron:main")
    #expect(hello.sessionKey(thread: "tide", agent: nil) == "agent:heron:tide")
    #expect(hello.sessionKey(thread: nil, agent: "stoat") == "agent:stoat:main")
    #expect(hello.sessionKey(thread: "agent:x:y", agent: "stoat") == "agent:x:y")
    // Rows of the history, by the gateway's clock.
    #expect(hello.since(100_000) == 40_000)
    hello.ahead = 500
    #expect(hello.since(100_000) == 98_000)
    hello.ahead = -500
    #expect(hello.since(100_000) == 97_500)
    hello.ahead = -4_000_000
    #expect(hello.since(100_000) == 40_000)
  }
}

/// What is kept about gateways.
@Suite struct DeviceTokensTests {
  private func folders() -> Folders {
    let root = "/tmp/agentutils-tokens-\(UInt64.random(in: 0...(.max)))"
    return Folders { $0 == "XDG_STATE_HOME" ? root : nil }
  }

  @Test func theKeyIsMadeOnceAndForTheOwnerAlone() throws {
    let folders = folders()
    let first = try DeviceIdentity.own(in: folders)
    #expect(try DeviceIdentity.own(in: folders).id == first.id)
    let path = folders.state + "/openclaw/device.pem"
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(chmod(path, 0o640) == 0)
    #expect(throws: Failure.self) { try DeviceIdentity.own(in: folders) }
  }

  @Test func theTokenThatAllowsLittleMoreIsTheBest() throws {
    let folders = folders()
    var tokens = try DeviceTokens(origin: "http://127.0.0.1:1", in: folders)
    try tokens.keep(Secret("read"), scopes: ["operator.read"])
    try tokens.keep(Secret("both"), scopes: ["operator.read", "operator.write"])
    tokens = try DeviceTokens(origin: "http://127.0.0.1:1", in: folders)
    #expect(tokens.best(for: [.read])?.token.reveal() == "read")
    #expect(tokens.best(for: [.read, .write])?.token.reveal() == "both")
    // Better one that allows too little than none: the gateway says what is missing.
    #expect(tokens.best(for: [.approvals])?.token.reveal() == "both")
    try tokens.forget(Secret("both"))
    #expect(try DeviceTokens(origin: "http://127.0.0.1:1", in: folders).entries.count == 1)
  }

  @Test func aTokenIsForOneGateway() throws {
    let folders = folders()
    var tokens = try DeviceTokens(origin: "http://a:1", in: folders)
    try tokens.keep(Secret("x"), scopes: [])
    #expect(try DeviceTokens(origin: "http://a:2", in: folders).entries.isEmpty)
    // Two origins whose file would have one name.
    #expect(throws: Failure.self) { try DeviceTokens(origin: "http://a-1", in: folders) }
  }
}
