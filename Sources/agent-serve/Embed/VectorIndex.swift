struct VectorIndex {
  private var width = 0
  private var numbers: [Float] = []
  private var ids: [Int64] = []
  private var groups: [Int32] = []
  private var places: [Int64: Int] = [:]
  private var names: [String: Int32] = [:]

  var count: Int { ids.count }

  func accepts(width: Int) -> Bool { ids.isEmpty || self.width == width }

  mutating func set(_ vector: [Float], of id: Int64, in guild: String) {
    if ids.isEmpty { width = vector.count }
    guard vector.count == width, width > 0 else { return }
    let group = names[guild] ?? Int32(names.count)
    names[guild] = group
    if let place = places[id] {
      numbers.replaceSubrange(place * width..<(place + 1) * width, with: vector)
      groups[place] = group
    } else {
      places[id] = ids.count
      ids.append(id)
      groups.append(group)
      numbers += vector
    }
  }

  mutating func remove(_ id: Int64) {
    guard let place = places.removeValue(forKey: id), let last = ids.last else { return }
    // The last one takes its place.
    if last != id {
      for offset in 0..<width {
        numbers[place * width + offset] = numbers[(ids.count - 1) * width + offset]
      }
      ids[place] = last
      groups[place] = groups[ids.count - 1]
      places[last] = place
    }
    ids.removeLast()
    groups.removeLast()
    numbers.removeLast(width)
  }

  mutating func clear() { (width, numbers, ids, groups, places) = (0, [], [], [], [:]) }

  /// The facts of a guild that are likest to a vector, the likest first.
  func nearest(_ vector: [Float], in guild: String, limit: Int) -> [(id: Int64, cosine: Float)] {
    guard let group = names[guild], vector.count == width, width > 0 else { return [] }
    var found: [(id: Int64, cosine: Float)] = []
    var least = -Float.infinity
    numbers.withUnsafeBufferPointer { numbers in
      vector.withUnsafeBufferPointer { vector in
        for place in ids.indices where groups[place] == group {
          let cosine = Self.product(
            UnsafeBufferPointer(rebasing: numbers[place * width..<(place + 1) * width]), vector)
          if cosine <= least { continue }
          found.append((ids[place], cosine))
          // Sorted now and then: the cost of a heap without one.
          if found.count >= limit * 4 {
            found = Self.best(found, limit)
            least = found.last?.cosine ?? least
          }
        }
      }
    }
    return Self.best(found, limit)
  }

  private static func best(
    _ found: [(id: Int64, cosine: Float)], _ limit: Int
  ) -> [(id: Int64, cosine: Float)] {
    Array(found.sorted { ($0.cosine, $1.id) > ($1.cosine, $0.id) }.prefix(limit))
  }

  /// Eight sums at a time, which the compiler makes vectors of.
  private static func product(
    _ a: UnsafeBufferPointer<Float>, _ b: UnsafeBufferPointer<Float>
  ) -> Float {
    var sums = SIMD8<Float>(repeating: 0)
    var index = 0
    while index + 8 <= a.count {
      var left = SIMD8<Float>()
      var right = SIMD8<Float>()
      for lane in 0..<8 {
        left[lane] = a[index + lane]
        right[lane] = b[index + lane]
      }
      sums += left * right
      index += 8
    }
    var sum = sums.sum()
    while index < a.count {
      sum += a[index] * b[index]
      index += 1
    }
    return sum
  }
}
