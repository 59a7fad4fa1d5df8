import Records
import Screen

/// The stories that are complete, one below the other.
struct StoryPages {
  let form: TurnFormatOptions.Form
  private var graph = DotGraph()
  private var heading: Line?
  private var isFirst = true
  private var wasTurn = false

  init(_ form: TurnFormatOptions.Form) { self.form = form }

  /// The lines of a story that is complete. A blank line stands around turns, and above
  /// the heading of a conversation.
  mutating func lines(_ story: StoryText) -> [Line] {
    if form == .dot { return graph.lines(story).map { Line($0) } }
    defer { isFirst = false }
    if form == .cards {
      let isTurn = story.story.key.kind == .turn
      defer { wasTurn = isTurn }
      return (isFirst || !isTurn && !wasTurn ? [] : [Line()]) + story.card
    }
    let heading = story.heading
    if heading == self.heading { return story.tree }
    self.heading = heading
    return (isFirst ? [] : [Line()]) + [heading] + story.tree
  }

  mutating func lines(
    asking approval: ApprovalRecord, _ thread: StoryBook.Thread, _ layout: CardLayout
  ) -> [Line] {
    let space = isFirst || form == .cards && !wasTurn ? [] : [Line()]
    (isFirst, wasTurn, heading) = (false, false, nil)
    let place = [approval.origin.profile, thread.title ?? approval.thread]
    return space + layout.lines(approval, indent: 0, place: place.compactMap(\.self))
  }
}
