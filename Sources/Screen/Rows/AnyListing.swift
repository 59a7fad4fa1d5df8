import Core

extension Listing {
  /// More columns than this are of no use to anybody.
  private static let mostColumns = 64

  /// A list of which nothing is known: a column for each member that some
  /// record has, in the order in which they appear.
  ///
  /// - Parameter rows: the records.
  public static func any(_ rows: [[UInt8]]) -> Listing {
    var names: [String] = []
    var seen: Set<String> = []
    for row in rows where names.count < mostColumns {
      row.withUnsafeBytes { bytes in
        guard var members = try? ScanMembers(bytes) else { return }
        while (try? members.next()) == true, names.count < mostColumns {
          let name = members.key.unescaped
          if seen.insert(name).inserted { names.append(name) }
        }
      }
    }
    let columns = names.map { name in
      Column(title: Plain.line(name, limit: 100), gives: true) { Cell.text($0[name]) }
    }
    return Listing(
      columns: columns.isEmpty
        ? [Column(title: "VALUE", gives: true) { _ in Line.Span("") }] : columns,
      fields: names)
  }
}
