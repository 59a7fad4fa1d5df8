import CLibc
import Core
import Records
import Web

/// Makes this machine a device of a Pincer server (Agent/Pincer/CONTRACT.md 2.1): the code
/// comes on standard input, the token goes into a file, and neither anywhere else. Where none
/// comes the server is asked for one, which it gives as long as it has no device.
extension PincerOperations {
  /// The longest code that is taken, digits; a server makes 8.
  private static let longest = 64

  static func pair(_ call: OperationCall) throws -> ExitStatus {
    let (caller, file) = (call.caller, call.arguments.operand ?? "")
    try caller.backend.requirePrivacy()
    // A token that cannot be kept is lost, and the code with it.
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
    if FileName.with(folder, { access($0, W_OK) }) != 0 {
      throw Failure(folder, systemReason(systemError), .failure)
    }
    var code = try readCode()
    if code.isEmpty {
      code = try ask(caller, .createPairingCode).value.pincerText("code")
    }
    let question = RecordText().string("code", code).string("deviceName", deviceName)
      .string("publicKey", key)
    // Whatever token there is belongs to another device.
    let reply = try ask(
      caller, .bindPairingCode, question, secret: code, hasToken: false)
    let token = reply.value.pincerText("token")
    guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw Failure(
        caller.place(PincerMethod.bindPairingCode.path), "the answer has no token", .failure)
    }
    let device = reply.value.pincerText("deviceId")
    do {
      try StateFile(path: file).replace(with: Array(token.utf8) + [10])
    } catch {
      try revoke(device, token, caller, file)
      throw error
    }
    let said = RecordText().string("deviceId", device)
      .string("expiresAt", reply.value.pincer("expiresAt")?.string)
      .string("renewAfter", reply.value.pincer("renewAfter")?.string)
    try call.output.record(said.bytes, facts: nil)
    return .success
  }

  /// Nobody has the token: while the server knows its device, it lets no other one in.
  private static func revoke(
    _ device: String, _ token: String, _ caller: Caller, _ file: String
  ) throws(Failure) {
    do throws(Failure) {
      let question = RecordText().string("deviceId", device)
      _ = try ask(caller, .revokeDevice, question, token: token)
    } catch {
      throw Failure(
        file,
        "the token could not be kept, and device \(device) not be revoked: do that from "
          + "another device", .failure)
    }
  }

  private static func readCode() throws(Failure) -> String {
    let code = try BoundedFile.text("-").filter { $0 != 32 && $0 != 9 && $0 != 10 && $0 != 13 }
    guard code.count <= longest, code.allSatisfy({ (48...57).contains($0) }) else {
      throw Failure("standard input", "not a pairing code: digits alone", .failure)
    }
    return String(decoding: code, as: UTF8.self)
  }

  private static var deviceName: String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "agentutils" }
    let name = FileName.text(bytes.withUnsafeBufferPointer { $0.baseAddress! })
    return name.isEmpty ? "agentutils" : "agentutils on \(name)"
  }

  /// The server keeps a public key and never uses it: of this one nobody has the other half.
  private static var key: String { Base64.text((0..<32).map { _ in .random(in: .min ... .max) }) }
}
