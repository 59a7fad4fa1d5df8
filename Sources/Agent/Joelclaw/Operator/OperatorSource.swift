import CLibc
import Core
import Web

/// A part of a joelclaw system, where the profile names it (CONTRACT.md 5).
enum OperatorSource: String, CaseIterable {
  case gateway, inngest, worker, redis, qdrant, kubernetes

  var key: String {
    switch self {
    case .gateway: "url"
    case .kubernetes: "kubectl-context"
    default: rawValue + "-url"
    }
  }

  var path: String {
    switch self {
    case .gateway, .inngest: "health"
    case .qdrant: "collections"
    default: ""
    }
  }
}
