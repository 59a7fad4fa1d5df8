import CCMark
import Core

/// The characters that a name stands for in HTML (`eacute`), as the HTML standard of WHATWG has it,
/// section 13.5; nil for a name that stands for nothing.
public func characters(named name: String) -> String? {
  guard !name.isEmpty, name.utf8.allSatisfy(\.isAlphanumeric) else { return nil }
  let reference = "&\(name);"
  let document = cmark_parse_document(reference, reference.utf8.count, CMARK_OPT_DEFAULT)
  defer { cmark_node_free(document) }
  let leaf = cmark_node_first_child(cmark_node_first_child(document))
  let text = cmark_node_get_literal(leaf).map { String(cString: $0) }
  return text == reference ? nil : text
}
