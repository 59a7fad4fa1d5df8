import Core
import Testing

@testable import Bus

@Suite struct BusDoorTests {
  @Test(arguments: [
    ("localhost", "nats://localhost:4222"), ("nats://A.example:7", "nats://a.example:7"),
    ("tls://[::1]:9/", "tls://[::1]:9"), ("127.0.0.1:1", "nats://127.0.0.1:1"),
  ])
  func serversAreRead(text: String, url: String) throws {
    #expect(try BusServer(text).url == url)
  }

  @Test(arguments: [
    "", "http://a", "nats://", "nats://a:0", "nats://a:99999", "a b", "::1", "a/b", "nats://u:p@a",
    "a:4222x",
  ])
  func whatIsNoServerIsRefused(text: String) {
    #expect(throws: Failure.self) { try BusServer(text) }
  }

  @Test func aPasswordIsNotRepeated() {
    do {
      _ = try BusServer("nats://user:hunter2@host")
    } catch {
      #expect(!error.reason.contains("hunter2"))
    }
  }

  /// The pair of the example in the server's documentation.
  @Test func thePublicHalfOfAKey() {
    let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
    #expect(
      BusKey.userKey(ofSeed: seed) == "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4")
    #expect(BusKey.userKey(ofSeed: String(seed.dropLast()) + "A") == nil)
    #expect(BusKey.userKey(ofSeed: "SU") == nil)
    #expect(BusKey.seed(in: "# mine\n\(seed)\n") == seed)
  }

  @Test func placesAreRead() throws {
    let place = try #require(BusPlace("$JS.ACK.agents.c1.2.17.5.1700000000123456789.4"))
    #expect(place.stream == "agents" && place.deliveries == 2 && place.sequence == 17)
    #expect(place.order == 5 && place.pending == 4)
    #expect(place.time.rfc3339.hasPrefix("2023-11-14T22:13:20.123"))
    let long = try #require(BusPlace("$JS.ACK.hub.ACC.agents.c1.1.18.6.1700000000123456789.3.x1"))
    #expect(long.stream == "agents" && long.sequence == 18 && long.pending == 3)
    for bad in ["", "$JS.ACK", "$JS.ACK.a.b.c.d.e.f.g", "x.y.agents.c1.2.17.5.1.4"] {
      #expect(BusPlace(bad) == nil, "\(bad)")
    }
  }

  @Test func answersAreRead() {
    let missing = BusAnswer(
      text: #"{"error":{"code":404,"err_code":10059,"description":"stream not found"}}"#)
    #expect(missing.fault?.number == BusAnswer.Fault.noStream && missing.fault?.mayPass == false)
    let full = BusAnswer(text: #"{"error":{"code":503,"err_code":10077,"description":"full"}}"#)
    #expect(full.fault?.mayPass == true)
    let few = BusAnswer(text: #"{"error":{"code":400,"err_code":10005,"description":"few"}}"#)
    #expect(few.fault?.mayPass == true)
    #expect(BusAnswer(text: "nonsense").fault?.mayPass == true)
    let consumer = BusAnswer(
      text: #"{"name":"c","config":{"filter_subject":"a.>"},"num_pending":7,"#
        + #""delivered":{"stream_seq":9}}"#)
    #expect(consumer.fault == nil && consumer.filters == ["a.>"])
    #expect(consumer.pending == 7 && consumer.delivered == 9)
  }
}
