import Core
import Records
import Turns

/// turn-fold(1): what an agent's events come to.
@main
enum TurnFoldCommand {
  static func main() {}
}
