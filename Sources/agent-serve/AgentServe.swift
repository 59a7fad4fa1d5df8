import CLibc
import Core

@main
enum AgentServe {
  static func main() async {
    let parsed = ServeOptions.table.parseOrExit()
    var diagnostics = Diagnostics(program: "agent-serve")
    let options: ServeOptions
    let address: ListenAddress
    do throws(UsageError) {
      options = try ServeOptions(parsed)
      address = try ListenAddress(options.listen)
    } catch {
      diagnostics.usage(error.problem, ServeOptions.table)
    }
    diagnostics.verbose = options.isVerbose
    await Server(options: options, address: address, diagnostics: diagnostics).run()
  }
}
