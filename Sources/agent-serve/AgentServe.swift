import CLibc
import Core

@main
enum AgentServe {
  static func main() async {
    let options = ServeOptions.table.parseOrExit(ServeOptions())
    let diagnostics = Diagnostics(program: "agent-serve", verbose: options.isVerbose)
    await Server(options: options, address: options.listen, diagnostics: diagnostics).run()
  }
}
