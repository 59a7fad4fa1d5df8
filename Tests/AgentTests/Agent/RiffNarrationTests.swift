import Testing

@testable import Agent

@Suite struct RiffNarrationTests {
  @Test(arguments: [
    ("/srv/my.site", "-srv-my-site"), ("/home/ada/a_b-C9", "-home-ada-a-b-C9"), ("/", "-"),
    ("/srv/jörg", "-srv-j-rg"),
  ])
  func aFolderHasTheNameThatClaudeCodeGivesIt(folder: String, slug: String) {
    #expect(RiffNarration.slug(of: folder) == slug)
  }
}
