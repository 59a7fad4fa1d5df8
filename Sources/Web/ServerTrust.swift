import CCrypto
import CCurl
public import Core

/// By what the server of a request is believed to be itself, where it speaks TLS.
public enum ServerTrust: Equatable, Sendable {
  /// Authorities vouch for its certificate and its name.
  case authorities
  /// The same; and its profile could name the certificate.
  case authoritiesUntilNamed
  /// Its certificate is this one, whoever has signed it, and for whatever name.
  case certificate(CertificateFingerprint)

  /// Whether the certificate of a server that is not believed is to be shown to the user.
  func isToBeShown(behind code: CURLcode) -> Bool {
    self == .authoritiesUntilNamed && code == CURLE_PEER_FAILED_VERIFICATION
  }

  /// Has a handle take any certificate, and keep it: it is to be looked at before anything is sent.
  static func takeAny(_ handle: UnsafeMutableRawPointer) {
    ccurl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 0)
    ccurl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 0)
    ccurl_set_long(handle, CURLOPT_CERTINFO, 1)
    // Who goes on with an old session shows no certificate.
    ccurl_set_long(handle, CURLOPT_SSL_SESSIONID_CACHE, 0)
  }

  /// The certificate of the connection that a handle has made; nil where it uses one that was
  /// there, or where this libcurl cannot tell.
  static func fingerprint(_ handle: UnsafeMutableRawPointer) -> CertificateFingerprint? {
    guard let text = ccurl_get_certificate(handle).map({ String(cString: $0) }),
      let start = text.place(of: begin)?.upperBound,
      let end = text[start...].place(of: "-----END")?.lowerBound,
      let der = Base64.bytes(text[start..<end].utf8.filter { $0 > 32 })
    else { return nil }
    var digest = [UInt8](repeating: 0, count: 32)
    ccrypto_sha256(der, der.count, &digest)
    return CertificateFingerprint(digest: digest)
  }

  private static let begin = "-----BEGIN CERTIFICATE-----"

  /// What is wrong with a server that shows another certificate than it should; nil where it shows
  /// the right one.
  func fault(of found: CertificateFingerprint?, at address: WebAddress) -> Failure? {
    guard case .certificate(let named) = self, found != named else { return nil }
    guard let found else {
      return Failure("this libcurl does not show the certificate; nothing was sent", .denied)
    }
    return Failure(
      "the certificate has changed, or somebody is in between: its fingerprint is \(found.text), "
        + "and the profile has tls-fingerprint = \(named.text); nothing was sent; on the server's "
        + "host 'openssl s_client -connect localhost:\(address.origin.port) </dev/null | openssl "
        + "x509 -noout -fingerprint -sha256' shows the one to write there", .denied)
  }

  /// Behind the reason why a certificate is not trusted.
  static func hint(_ found: CertificateFingerprint?) -> String {
    guard let found else { return "" }
    return "; if it is the server's own, the profile may say tls-fingerprint = \(found.text)"
  }
}
