import Screen

/// Blocks of lines side by side.
enum Columns {
  /// The cells of each column when `count` of them share a width; the first
  /// ones get what cannot be shared out evenly.
  ///
  /// - Parameters:
  ///   - count: 1 or more.
  ///   - width: all cells.
  ///   - gap: the cells between two columns.
  static func widths(_ count: Int, width: Int, gap: Int) -> [Int] {
    let room = max(0, width - gap * (count - 1))
    return (0..<count).map { room / count + ($0 < room % count ? 1 : 0) }
  }

  /// The blocks as one, each line cut and filled to its column's width; blanks
  /// at the end of a line are left out.
  ///
  /// - Parameters:
  ///   - blocks: the lines of each column.
  ///   - widths: as many as there are blocks.
  ///   - gap: the cells between two columns.
  static func join(_ blocks: [[Line]], widths: [Int], gap: Int) -> [Line] {
    let height = blocks.map(\.count).max() ?? 0
    return (0..<height).map { row in
      var line = Line()
      var blanks = 0
      for (block, width) in zip(blocks, widths) {
        if row < block.count, !block[row].spans.isEmpty {
          let part = block[row].cut(to: width)
          line.add(Fit.spaces(blanks))
          line.add(part)
          blanks = width - part.cells
        } else {
          blanks += width
        }
        blanks += gap
      }
      return line
    }
  }

  /// Where to break a row of blocks into columns, in their order, so that the
  /// tallest column is as low as can be; of equal ways the one with the tallest
  /// columns first.
  ///
  /// - Parameters:
  ///   - heights: the lines of each block.
  ///   - count: the columns, 1 or more.
  /// - Returns: how many blocks each column holds; no more columns than blocks.
  static func balance(_ heights: [Int], count: Int) -> [Int] {
    let count = min(count, heights.count)
    guard count > 1 else { return heights.isEmpty ? [] : [heights.count] }
    // The lowest height that holds everything, tried from the bottom.
    var limit = max(heights.max() ?? 0, (heights.reduce(0, +) + count - 1) / count)
    while true {
      if let columns = fill(heights, count: count, limit: limit) { return columns }
      limit += 1
    }
  }

  /// Fills columns one after the other up to a height, leaving one block at
  /// least for each column to come; nil when they do not hold everything.
  private static func fill(_ heights: [Int], count: Int, limit: Int) -> [Int]? {
    var columns: [Int] = []
    var next = 0
    for column in 0..<count {
      var used = 0
      var taken = 0
      let last = heights.count - (count - 1 - column)
      while next < last, taken == 0 || used + heights[next] <= limit {
        used += heights[next]
        taken += 1
        next += 1
      }
      if used > limit { return nil }
      columns.append(taken)
    }
    return next == heights.count ? columns : nil
  }
}
