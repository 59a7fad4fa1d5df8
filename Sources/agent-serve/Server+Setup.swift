import Core
import Foundation
import GRDB
import NIOCore

extension Server {
  /// The store, in a file that only its owner can read.
  func openStore() -> ActionStore {
    var path = options.database ?? ""
    do {
      if options.database == nil {
        path = try Folders().stateFile("agent-serve.sqlite")
      }
      let mask = umask(0o077)
      defer { umask(mask) }
      return try ActionStore(path: path == ":memory:" ? path : StoreLock.take(path))
    } catch let error as SettingsError {
      diagnostics.fail(error.message, error.status)
    } catch {
      diagnostics.fail("\(path): \(Self.reason(error))")
    }
  }

  /// The memory, with the server that makes vectors when one was named.
  func makeMemory(_ store: ActionStore) -> ServedMemory {
    guard let address = try? options.embedURL.map(EmbedClient.endpoint) else {
      return ServedMemory(store: store, embedder: nil)
    }
    let model = options.embedModel ?? "nomic-embed-text"
    let embedder = Embedder(store, diagnostics: diagnostics) { EmbedClient(address, model: model) }
    return ServedMemory(store: store, embedder: embedder)
  }

  /// The token that requests need: the option's file, or one of the usual places.
  func accessToken() -> AccessToken? {
    do throws(SettingsError) {
      let secret = try Credentials(folders: Folders()).token(
        option: options.tokenFile, profile: nil)
      return secret.map { AccessToken($0.reveal()) }
    } catch {
      diagnostics.fail(error.message, error.status)
    }
  }

  /// What requests may call this server. A token is something that no page of a
  /// browser has, whatever it calls us; a tunnel calls us by its own name.
  func servedNames(_ token: AccessToken?) -> ServedNames? {
    if token != nil && options.hosts.isEmpty { return nil }
    return ServedNames(options.hosts + address.names)
  }

  #if canImport(Glibc)
    private static let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let descriptors = RLIMIT_NOFILE
  #endif

  /// How many descriptors the process may have.
  static var descriptorLimit: Int {
    var limit = rlimit()
    return getrlimit(descriptors, &limit) == 0 ? Int(clamping: limit.rlim_cur) : 64
  }

  /// A stream holds a descriptor: take as many as the system allows.
  static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(descriptors, &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 1 << 16)
    _ = setrlimit(descriptors, &limit)
  }

  /// An error in the words of a diagnostic.
  static func reason(_ error: any Error) -> String {
    if let error = error as? IOError { return systemReason(error.errnoCode) }
    if let error = error as? DatabaseError { return error.message ?? "error \(error.resultCode)" }
    return "\(error)"
  }
}
