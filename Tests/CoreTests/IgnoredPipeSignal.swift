import CLibc

/// Makes a write to a closed pipe an error in this process, as it is when a
/// parent or libcurl ignores the signal. SIG_IGN is a cast, which Swift does not
/// import.
func ignorePipeSignal() {
  signal(SIGPIPE, unsafeBitCast(1, to: (@convention(c) (Int32) -> Void).self))
}
