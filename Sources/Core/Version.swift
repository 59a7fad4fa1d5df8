/// The version of the whole suite, as `--version` prints it.
public let suiteVersion = "0.13.0"
