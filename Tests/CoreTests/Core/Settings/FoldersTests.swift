import CLibc
import Testing

@testable import Core

@Suite struct FoldersTests {
  @Test func defaultsAreUnderTheHome() {
    let folders = Folders { ["HOME": "/h"][$0] }
    #expect(folders.config == "/h/.config/agentutils")
    #expect(folders.state == "/h/.local/state/agentutils")
    #expect(folders.configFile == "/h/.config/agentutils/config")
  }

  @Test func absoluteFoldersOfTheEnvironmentCount() {
    let folders = Folders {
      ["HOME": "/h", "XDG_CONFIG_HOME": "/c/", "XDG_STATE_HOME": "/s"][$0]
    }
    #expect(folders.config == "/c/agentutils")
    #expect(folders.state == "/s/agentutils")
  }

  @Test func relativeFoldersOfTheEnvironmentAreIgnored() {
    let folders = Folders {
      ["HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "./s"][$0]
    }
    #expect(folders.config == "/h/.config/agentutils")
    #expect(folders.state == "/h/.local/state/agentutils")
  }

  @Test func withoutAHomeThePasswordDatabaseTells() {
    let folders = Folders { _ in nil }
    let entry = getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) }
    #expect(folders.home == entry)
  }

  @Test(arguments: [
    ("~", "/h"), ("~/x", "/h/x"), ("/x", "/x"), ("x/y", "/h/.config/agentutils/x/y"),
    ("~other/x", "/h/.config/agentutils/~other/x"), ("a~/x", "/h/.config/agentutils/a~/x"),
  ])
  func pathsOfTheConfiguration(path: String, expected: String) {
    #expect(Folders { ["HOME": "/h"][$0] }.expand(path) == expected)
  }

  @Test func theStateFolderIsMadeForTheUserAlone() throws {
    let scratch = Scratch()
    let folders = Folders(environment: scratch.environment(["XDG_STATE_HOME": scratch.file("a/b")]))
    #expect(try folders.stateFile("x") == scratch.file("a/b/agentutils/x"))
    var status = stat()
    #expect(stat(scratch.file("a/b/agentutils"), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o700)
    #expect(try folders.stateFile("y") == scratch.file("a/b/agentutils/y"))
  }

  @Test func aFileInTheWayIsNamed() {
    let scratch = Scratch()
    scratch.write("state", "")
    let folders = Folders(environment: scratch.environment())
    #expect(throws: Failure(scratch.file("state"), "not a folder")) {
      try folders.stateFile("x")
    }
  }
}
