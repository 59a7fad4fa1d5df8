import Core

/// Pairing at the terminal where the server runs.
extension Gateway {
  /// Shows the device that waits longest, once.
  func promptForPairing() {
    guard let request = pairings.pending(now: Timestamp.now().milliseconds).first,
      request.id != promptedPairing
    else { return }
    promptedPairing = request.id
    let device = request.device
    let name = device.name.map { " \u{201c}\(Visible.line($0))\u{201d}" } ?? ""
    let scopes = device.scopeNames.joined(separator: ", ")
    diagnostics.say(
      "device \(device.id.prefix(12))\(name) (\(Visible.line(device.client)), "
        + "\(Visible.line(device.platform))) from \(request.address) wants \(scopes); "
        + "request \(request.id): y or n?")
  }

  /// Takes a line that was typed: `y` or `n` about the device that was shown.
  func answerPairing(_ line: String) async {
    guard let id = promptedPairing else { return }
    let word = line.trimmingBlanks().lowercased()
    guard word == "y" || word == "n" else {
      if !word.isEmpty { diagnostics.say("request \(id): y or n?") }
      return
    }
    do {
      let request = try await decide(id, approves: word == "y")
      let result = request == nil ? "gone" : word == "y" ? "approved" : "rejected"
      diagnostics.say("request \(id): \(result)")
    } catch {
      diagnostics.errorRarely("the store", ErrorText.of(error))
    }
    promptedPairing = nil
    promptForPairing()
  }
}
