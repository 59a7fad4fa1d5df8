import Core
import Web

/// Where a Redis is: `redis://HOST[:PORT][/NUMBER]`, or `rediss` with TLS.
struct RedisPlace: Equatable {
  let isSecure: Bool
  /// The host in lower case; an IPv6 address in brackets.
  let host: String
  let port: Int
  let number: Int

  private static let usualPort = 6379

  init(_ url: String) throws(Failure) {
    let scheme = url.prefix { $0 != ":" }.lowercased()
    isSecure = scheme == "rediss"
    guard isSecure || scheme == "redis", url.dropFirst(scheme.count).hasPrefix("://") else {
      throw Self.fault("not a redis or rediss url")
    }
    let rest = url.dropFirst(scheme.count + 3)
    // A port that is not written is another one for each of these schemes.
    let addresses: (plain: WebAddress, secure: WebAddress)
    do throws(Failure) {
      addresses = (try WebAddress("http://" + rest), try WebAddress("https://" + rest))
    } catch {
      throw Self.fault(error.reason)
    }
    if addresses.plain.password != nil {
      throw Self.fault("holds a password: name its file in redis-password-file")
    }
    if addresses.plain.user != nil {
      throw Self.fault("names a user: only the usual one can log in")
    }
    host = addresses.plain.host
    let isWritten = addresses.plain.port == addresses.secure.port
    port = isWritten ? addresses.plain.port : Self.usualPort
    let tail = rest.drop { !"/?#".contains($0) }
    let digits = tail.dropFirst()
    let isNumber = digits.utf8.count <= 6 && digits.utf8.allSatisfy { (48...57).contains($0) }
    guard tail.isEmpty || tail.first == "/" && isNumber else {
      throw Self.fault("what follows the host is no number of a database")
    }
    number = Int(digits) ?? 0
  }

  private static func fault(_ reason: String) -> Failure {
    Failure(OperatorSource.redis.key, reason)
  }

  var name: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }

  var display: String {
    let path = number == 0 ? "" : "/\(number)"
    return "\(isSecure ? "rediss" : "redis")://\(host):\(port)\(path)"
  }
}
