import Core
import Screen
import Testing

@testable import agent_call

/// The columns of the lists.
@Suite struct ListingTests {
  @Test(arguments: [
    (#"{"kind":"daily","hour":7,"minute":5}"#, "daily 07:05"),
    (#"{"kind":"interval","everyMinutes":90}"#, "every 1h30m"),
    (#"{"kind":"daily","hour":99,"minute":5}"#, #"{"kind":"daily","hour":99,"minute":5}"#),
    (#"{"kind":"once"}"#, #"{"kind":"once"}"#), ("\"x\\u001b\"", "x\\e"), ("null", ""), ("7", "7"),
  ])
  func schedulesInWords(json: String, words: String) throws {
    #expect(Schedule.cell(try JSONValue.parse(text: json)).text == words)
  }

  @Test func everyListTakesAnyRecord() throws {
    let names = Command.allCases.compactMap(\.listing).flatMap(\.fields)
    for value in ["null", "7", "\"\\u001b\\n\"", "[{}]", "{\"x\":[]}", "true"] {
      let members = Set(names).map { "\"\($0)\":\(value)" }.joined(separator: ",")
      let record = try JSONValue.parse(text: "{\(members)}")
      for command in Command.allCases {
        for column in (command.listing ?? .actions).columns {
          #expect(!column.cell(record).text.unicodeScalars.contains { $0.value < 32 })
        }
      }
    }
  }
}
