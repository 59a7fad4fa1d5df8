import Testing

@testable import Core

@Suite struct SecretTests {
  struct Holder { let token: Secret? }

  @Test func noWayOfPrintingShowsIt() throws {
    let secret = Secret("s3cr3t")
    var dumped = ""
    dump(secret, to: &dumped)
    dump(Holder(token: secret), to: &dumped)
    let texts = [
      "\(secret)", secret.description, secret.debugDescription, String(describing: secret),
      String(reflecting: secret), "\(Holder(token: secret))",
      String(reflecting: Holder(token: secret)),
      "\([secret])", "\(Optional(secret) as Any)", dumped,
    ]
    for text in texts {
      #expect(!text.contains("s3cr3t"))
      #expect(!text.isEmpty)
    }
    #expect(Mirror(reflecting: secret).children.isEmpty)
    #expect(secret.reveal() == "s3cr3t")
  }
}
