import Records
import Screen

struct StoryPages {
  private let form: TurnFormatOptions.Form
  private var graph = DotGraph()
  private var heading: Line?
  private var isFirst = true
  private var wasTurn = false

  init(_ options: TurnFormatOptions) { form = options.form }

  var start: [String] { form == .dot ? DotGraph.start : [] }
  var end: [String] { form == .dot ? DotGraph.end : [] }

  mutating func graph(
    _ story: Story, _ thread: StoryBook.Thread, _ layout: CardLayout
  ) -> [String] {
    graph.lines(story, thread: thread, layout)
  }

  /// The lines of a story that is complete. A blank line stands around turns, and above
  /// the heading of a conversation.
  mutating func lines(
    _ story: Story, _ thread: StoryBook.Thread, _ layout: CardLayout
  ) -> [Line] {
    defer { isFirst = false }
    if form == .cards {
      let isTurn = story.key.kind == .turn
      defer { wasTurn = isTurn }
      let lines = Card(story, thread: thread, layout).lines
      return (isFirst || !isTurn && !wasTurn ? [] : [Line()]) + lines
    }
    let tree = TreeText(story, thread: thread, layout)
    let heading = tree.heading
    if heading == self.heading { return tree.lines }
    self.heading = heading
    return (isFirst ? [] : [Line()]) + [heading] + tree.lines
  }

  mutating func lines(
    asking approval: ApprovalRecord, _ thread: StoryBook.Thread, _ layout: CardLayout
  ) -> [Line] {
    let space = isFirst || form == .cards && !wasTurn ? [] : [Line()]
    (isFirst, wasTurn, heading) = (false, false, nil)
    let place = [approval.origin.profile, thread.title ?? approval.thread]
    return space
      + ApprovalRows(approval, layout, indent: 0, place: place.compactMap(\.self)).lines
  }

  func live(_ story: Story, _ thread: StoryBook.Thread, _ layout: CardLayout) -> [Line] {
    form == .cards
      ? Card(story, thread: thread, layout).lines : TreeText(story, thread: thread, layout).lines
  }
}
