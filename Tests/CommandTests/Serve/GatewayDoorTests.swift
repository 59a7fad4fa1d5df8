import Core
import Testing

@testable import agent_serve

/// Who comes in by the gateway. Keys and signatures are those of the contract's samples.
@Suite struct GatewayDoorTests {
  private static let nonce = "7b1f0c52-1c1e-4a55-9a8f-1de0a40f2c11"
  private static let deviceID = "56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c"
  private static let key = "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"
  private static let greeted = 1_789_000_000_000

  /// A connect of protocol 4 with the gateway's token.
  private static func newer(token: String = "gw-secret", more: String = "") -> String {
    """
    {"minProtocol":4,"maxProtocol":4,"client":{"id":"cli","version":"0.1.0",\
    "platform":"Linux","mode":"cli"},"role":"operator",\
    "scopes":["operator.read","operator.write","operator.approvals"],\
    "caps":["tool-events","approvals"],"auth":{"token":"\(token)"},"locale":"en-US",\
    "userAgent":"agentutils/0.1.0","device":{"id":"\(deviceID)","publicKey":"\(key)",\
    "signature":"9o12xkjrVqMctKfVl-oBM8FAd9Fc9UAm3KrfgFIPeg0AEml8SEcxm8RM35D2GcArlkYPwVSpDUS70eGA9wmfBQ",\
    "signedAt":\(greeted),"nonce":"\(nonce)"}\(more)}
    """
  }

  /// One of protocol 3 with the device's token and the older form of signature.
  private static let older = """
    {"minProtocol":3,"maxProtocol":3,"client":{"id":"openclaw-ios","version":"0.1.0",\
    "platform":"ios","mode":"ui"},"role":"operator","scopes":["operator.read","operator.write"],\
    "caps":["tool-events"],"auth":{"token":"dt-41"},"locale":"en-US",\
    "userAgent":"agentutils/0.1.0","device":{"id":"\(deviceID)","publicKey":"\(key)",\
    "signature":"JeGLMq2irsTeZJVntKtGGNK8mOW2aqLAOy7hhG--9cImRoVf8JoaKEwDFSiGb0t-W4TSM1PtgvM6OrrlnRYpBw",\
    "signedAt":\(greeted),"nonce":"\(nonce)"}}
    """

  private func request(_ text: String) throws -> ConnectRequest {
    try ConnectRequest(JSONValue.parse(text: text))
  }

  private func admission(
    token: String? = "gw-secret", nonce: String = nonce, now: Int = greeted, isLocal: Bool = true
  ) -> Admission {
    Admission(
      nonce: nonce, greeted: Self.greeted, now: now, token: token.map { AccessToken($0) },
      isLocal: isLocal, asksForDevices: false)
  }

  private func refusal<T>(_ body: () throws -> T) -> String? {
    do {
      _ = try body()
      return nil
    } catch let fault as GatewayFault {
      let text = String(decoding: fault.node.bytes, as: UTF8.self)
      let value = try? JSONValue.parse(text: text)
      return value?["details"]?["code"]?.string ?? fault.code
    } catch {
      return "\(error)"
    }
  }

  @Test func signaturesOfBothForms() throws {
    for text in [Self.newer(), Self.older] {
      let key = try admission().device(request(text))
      #expect(key?.deviceID == Self.deviceID)
    }
    let texts = try request(Self.newer()).signedTexts
    #expect(texts[0].hasPrefix("v3|\(Self.deviceID)|cli|cli|operator|operator.read,"))
    #expect(texts[0].hasSuffix("|gw-secret|\(Self.nonce)|linux|"))
    #expect(texts[1].hasPrefix("v2|") && texts[1].hasSuffix("|gw-secret|\(Self.nonce)"))
  }

  @Test func proofsThatAreNone() throws {
    let other = try request(Self.newer(token: "gw-secreu"))
    #expect(refusal { try admission().device(other) } == "DEVICE_AUTH_SIGNATURE_INVALID")
    let good = try request(Self.newer())
    #expect(refusal { try admission(nonce: "x").device(good) } == "DEVICE_AUTH_NONCE_MISMATCH")
    // The challenge's own time is right however late it is.
    #expect(refusal { try admission(now: Self.greeted + 900_000).device(good) } == nil)
    let elsewhere = Admission(
      nonce: Self.nonce, greeted: 0, now: Self.greeted + 900_000, token: nil, isLocal: true,
      asksForDevices: false)
    #expect(refusal { try elsewhere.device(good) } == "DEVICE_AUTH_SIGNATURE_EXPIRED")
  }

  @Test func secrets() throws {
    let good = try request(Self.newer())
    #expect(refusal { try admission().checkProof(good, known: nil) } == nil)
    #expect(refusal { try admission(token: nil).checkProof(good, known: nil) } == nil)
    #expect(
      refusal { try admission(token: "x").checkProof(good, known: nil) } == "AUTH_TOKEN_MISMATCH")
    let older = try request(Self.older)
    #expect(refusal { try admission().checkProof(older, known: "dt-41") } == nil)
    #expect(refusal { try admission().checkProof(older, known: "dt-42") } == "AUTH_TOKEN_MISMATCH")
    #expect(refusal { try admission().checkProof(older, known: nil) } == "AUTH_TOKEN_MISMATCH")
  }

  @Test func protocols() throws {
    for (wish, spoken) in [("3,4", 4), ("3,3", 3), ("4,4", 4), ("2,3", 3), ("4,7", 4)] {
      let ends = wish.split(separator: ",")
      let text = Self.newer()
        .replacingOnce("\"minProtocol\":4", "\"minProtocol\":\(ends[0])")
        .replacingOnce("\"maxProtocol\":4", "\"maxProtocol\":\(ends[1])")
      #expect(try admission().protocolVersion(request(text)) == spoken)
    }
    let late = Self.newer().replacingOnce("\"minProtocol\":4", "\"minProtocol\":5")
      .replacingOnce("\"maxProtocol\":4", "\"maxProtocol\":5")
    #expect(refusal { try admission().protocolVersion(request(late)) } == "PROTOCOL_MISMATCH")
  }

  @Test func closedKeys() {
    #expect(refusal { try request(Self.newer(more: ",\"x\":1")) } == "INVALID_REQUEST")
    #expect(refusal { try request(Self.newer(more: ",\"pathEnv\":\"/bin\"")) } == nil)
    let named = Self.newer().replacingOnce("\"mode\":\"cli\"", "\"mode\":\"cli\",\"shade\":2")
    #expect(refusal { try request(named) } == "INVALID_REQUEST")
  }

  @Test func everyMethodTakesItsOwnMembersAlone() throws {
    for method in GatewayMethod.all {
      let stranger = try JSONValue.parse(text: #"{"no such member":1}"#)
      #expect(refusal { try method.check(stranger) } == "INVALID_REQUEST", "\(method.name)")
    }
    let send = try #require(GatewayMethod.named("chat.send"))
    let good = #"{"sessionKey":"main","message":"","idempotencyKey":"k","deliver":false}"#
    #expect(throws: Never.self) { try send.check(JSONValue.parse(text: good)) }
  }

  @Test func keysInTheirForms() {
    #expect(DeviceKey(Self.key)?.raw.count == 32)
    #expect(DeviceKey(Self.key + "=")?.deviceID == Self.deviceID)
    #expect(DeviceKey("") == nil)
    #expect(DeviceKey(String(Self.key.dropLast())) == nil)
    #expect(DeviceKey("-----BEGIN PUBLIC KEY-----\n\(Self.key)\n-----END PUBLIC KEY-----") == nil)
    #expect(Base64.url(Base64.bytes(url: Self.key.utf8) ?? []) == Self.key)
  }

  @Test func whoGuessesTooOftenHasToWait() {
    var failures = FailureCount()
    for _ in 0..<10 {
      #expect(failures.wait("a", now: 0) == nil)
      failures.note("a", now: 0)
    }
    #expect(failures.wait("a", now: 1000) == 59_000)
    #expect(failures.wait("b", now: 1000) == nil)
    #expect(failures.wait("a", now: 60_000) == nil)
    for number in 0..<5000 { failures.note("n\(number)", now: 60_000) }
    #expect(failures.wait("a", now: 60_001) == nil)
  }

  @Test func requestsToPair() throws {
    let device = PairedDevice(
      id: "d", publicKey: "k", client: "cli", platform: "linux", name: nil, scopes: [.read],
      token: "t", approvedAt: 0)
    var wider = device
    wider.scopes = [.read, .admin]
    var requests = PairingRequests()
    var added: [(request: PairingRequest, isNew: Bool)] = []
    for (wish, now) in [(device, 0), (device, 1), (wider, 2)] {
      if let one = requests.add(wish, reason: "r", address: "::1", now: now) { added.append(one) }
    }
    #expect(added.map(\.isNew) == [true, false, true])
    let ids = added.map(\.request.id)
    // Who was shown the first wish must not approve another one with the same word.
    #expect(ids[0] == ids[1] && ids[1] != ids[2])
    let taken = [ids[0], ids[2]].map { requests.receive($0, now: 3)?.device.scopes }
    #expect(taken == [nil, [.read, .admin]])
    _ = requests.add(device, reason: "r", address: "::1", now: 4)
    let waiting = [requests.pending(now: 5).count, requests.pending(now: 400_000).count]
    #expect(waiting == [1, 0])
  }
}

extension String {
  fileprivate func replacingOnce(_ text: String, _ other: String) -> String {
    guard let place = place(of: text) else { return self }
    return replacingCharacters(in: place, other)
  }

  private func replacingCharacters(in place: Range<Index>, _ other: String) -> String {
    String(self[..<place.lowerBound]) + other + String(self[place.upperBound...])
  }
}
