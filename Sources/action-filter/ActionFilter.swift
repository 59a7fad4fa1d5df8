import Core

@main
enum ActionFilter {
  static func main() {
    let table = OptionTable(
      program: "action-filter", summary: "Select actions.", synopsis: "[options] [FILE ...]",
      options: [Option("k", "kind", "KIND,...", "actions of these kinds")])
    let parsed = table.parseOrExit()
    print(parsed)
  }
}
