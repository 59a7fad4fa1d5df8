import CLibc

/// A token that a command prints: `pass show clanky`, `secret-tool lookup ...`.
enum TokenCommand {
  /// Runs a command by `/bin/sh -c` with nothing on its standard input and our
  /// standard error, and takes what it prints.
  ///
  /// - Parameter source: what an error names; the command itself is never
  ///   shown, it may hold a secret.
  /// - Throws: `SettingsError`; `denied` when the command fails.
  static func run(_ command: String, source: String) throws(SettingsError) -> Secret {
    let (child, output) = try spawn(command, source: source)
    let printed: Result<[UInt8], BoundedFile.Failure>
    do throws(BoundedFile.Failure) {
      printed = .success(try BoundedFile.bytes(of: output, limit: TokenFile.limit))
    } catch {
      printed = .failure(error)
      kill(child, SIGKILL)
    }
    close(output)
    let status = wait(for: child)
    switch printed {
    case .failure(let failure): throw SettingsError(source, "output \(failure.reason)")
    case .success(let bytes):
      if let problem = describe(status) { throw SettingsError(source, problem, .denied) }
      return try Secret(bytes: bytes, source: source)
    }
  }

  private static func spawn(
    _ command: String, source: String
  ) throws(SettingsError) -> (child: pid_t, output: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SettingsError(source, systemReason(systemError)) }
    for end in ends { _ = clibc_close_on_exec(end) }
    defer { close(ends[1]) }
    let child: pid_t
    do throws(SettingsError) {
      child = try start(command, output: ends[1], source: source)
    } catch {
      close(ends[0])
      throw error
    }
    return (child, ends[0])
  }

  private static func start(
    _ command: String, output: Int32, source: String
  ) throws(SettingsError) -> pid_t {
    #if os(Linux)
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #else
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    // A signal that we ignore is not the command's to ignore.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))

    var words: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(command), nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, "/bin/sh", &actions, &attributes, &words, clibc_environ())
    guard code == 0 else { throw SettingsError(source, systemReason(code)) }
    return child
  }

  private static func wait(for child: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && systemError == EINTR {}
    return status
  }

  /// Why a child's status is not success, nil when it is.
  private static func describe(_ status: Int32) -> String? {
    let signal = status & 0x7f
    if signal != 0 { return "command ended by signal \(signal)" }
    let code = (status >> 8) & 0xff
    return code == 0 ? nil : "command failed with status \(code)"
  }
}
