// exact TEST FILE: what action-filter answers, with simdjson.
//
// The baseline of the bench: every line is walked to its end, keys and values
// compare after their escapes, the last of equal keys counts, an action may be
// wrapped, a bad line is reported and costs no good one. TEST is t1 to t5.
#include <fcntl.h>
#include <simdjson.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

using namespace simdjson;
using std::string_view;

enum Member { ID, CREATED, KIND, CONTENT, COST, DATA, OTHER };

struct Action {
  string_view raw[4];  // id, created_at, kind, usd_cost as they stand in the line
  string_view kind, content;
  bool has_kind = false, has_cost = false;
  double cost = 0;
};

static Member member(string_view key) {
  switch (key.size()) {
    case 2: return key == "id" ? ID : OTHER;
    case 4: return key == "kind" ? KIND : key == "data" ? DATA : OTHER;
    case 7: return key == "content" ? CONTENT : OTHER;
    case 8: return key == "usd_cost" ? COST : OTHER;
    case 10: return key == "created_at" ? CREATED : OTHER;
    default: return OTHER;
  }
}

static string_view trimmed(string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

struct Walker {
  bool wants_content, wants_raw;
  bool wrapped = false;

  error_code walk(ondemand::object &object, Action &action, Action *inner) {
    for (auto item : object) {
      ondemand::field field;
      SIMDJSON_TRY(std::move(item).get(field));
      const char *begin = field.key().raw(), *end = begin;
      while (*end != '"' && *end != '\\') end++;
      string_view key(begin, size_t(end - begin));
      if (*end == '\\') SIMDJSON_TRY(field.unescaped_key().get(key));
      ondemand::value value = field.value();
      Member which = member(key);
      if (which == OTHER) continue;
      ondemand::json_type type;
      SIMDJSON_TRY(value.type().get(type));
      bool scalar = type != ondemand::json_type::object && type != ondemand::json_type::array;
      if (wants_raw && scalar && which != CONTENT && which != DATA)
        action.raw[which == COST ? 3 : which] = trimmed(value.raw_json_token());
      switch (which) {
        case KIND:
          action.has_kind = type == ondemand::json_type::string;
          if (action.has_kind) SIMDJSON_TRY(value.get_string().get(action.kind));
          break;
        case CONTENT:
          action.content = {};
          if (wants_content && type == ondemand::json_type::string)
            SIMDJSON_TRY(value.get_string().get(action.content));
          break;
        case COST:
          action.has_cost = type == ondemand::json_type::number;
          if (action.has_cost) SIMDJSON_TRY(value.get_double().get(action.cost));
          break;
        case DATA: {
          if (!inner || type != ondemand::json_type::object) break;
          *inner = Action();
          ondemand::object data;
          SIMDJSON_TRY(value.get_object().get(data));
          SIMDJSON_TRY(walk(data, *inner, nullptr));
          wrapped = inner->has_kind;
          break;
        }
        default: break;
      }
    }
    return SUCCESS;
  }
};

struct Hash {
  using is_transparent = void;
  size_t operator()(string_view text) const { return std::hash<string_view>{}(text); }
};
struct Group {
  unsigned long long count = 0;
  double cost = 0;
};

struct Run {
  char test;
  ondemand::parser parser;
  unsigned long long number = 0, bad = 0, selected = 0;
  std::unordered_map<std::string, Group, Hash, std::equal_to<>> groups;
  std::vector<char> lower;

  bool has_text(string_view content) {
    static const char needle[] = "rate limit";
    lower.resize(content.size() + 1);
    for (size_t i = 0; i < content.size(); i++) {
      unsigned char c = static_cast<unsigned char>(content[i]);
      lower[i] = static_cast<char>(c + (c - 'A' < 26u ? 32 : 0));
    }
    return memmem(lower.data(), content.size(), needle, sizeof needle - 1) != nullptr;
  }

  error_code read(const char *line, size_t length, Action &action) {
    ondemand::document document;
    SIMDJSON_TRY(parser.iterate(line, length, length + SIMDJSON_PADDING).get(document));
    ondemand::object object;
    SIMDJSON_TRY(document.get_object().get(object));
    Action inner;
    Walker walker{test == '4', test == '3'};
    SIMDJSON_TRY(walker.walk(object, action, &inner));
    const char *behind;  // beyond the object there is nothing
    if (document.current_location().get(behind) != OUT_OF_BOUNDS) return TAPE_ERROR;
    if (!action.has_kind && walker.wrapped) action = inner;
    return SUCCESS;
  }

  void take(const char *line, size_t length) {
    number++;
    if (length == 0) return;
    Action action;
    if (error_code error = read(line, length, action)) {
      if (++bad <= 10) fprintf(stderr, "exact: %llu: %s\n", number, error_message(error));
      return;
    }
    bool is = false;
    switch (test) {
      case '1': is = action.kind == "llm_error"; break;
      case '2':
        is = (action.kind == "llm_call" || action.kind == "llm_error" ||
              action.kind == "llm_tool_call") && action.has_cost && action.cost >= 0.01;
        break;
      case '4': is = has_text(action.content); break;
      case '3': project(action); return;
      case '5': {
        auto group = groups.find(action.kind);
        if (group == groups.end()) group = groups.emplace(action.kind, Group()).first;
        group->second.count++;
        group->second.cost += action.has_cost ? action.cost : 0;
        return;
      }
    }
    if (!is) return;
    selected++;
    fwrite(line, 1, length, stdout);
    putc_unlocked('\n', stdout);
  }

  void project(const Action &action) {
    static const string_view names[] = {
        "{\"id\":", ",\"created_at\":", ",\"kind\":", ",\"usd_cost\":"};
    for (int i = 0; i < 4; i++) {
      fwrite_unlocked(names[i].data(), 1, names[i].size(), stdout);
      string_view value = action.raw[i].empty() ? string_view("null") : action.raw[i];
      fwrite_unlocked(value.data(), 1, value.size(), stdout);
    }
    fwrite_unlocked("}\n", 1, 2, stdout);
  }
};

int main(int argc, char **argv) {
  if (argc != 3) return fputs("usage: exact t1|t2|t3|t4|t5 FILE\n", stderr), 2;
  int file = open(argv[2], O_RDONLY);
  if (file < 0) return perror(argv[2]), 2;
  setvbuf(stdout, nullptr, _IOFBF, 1 << 18);
  Run run;
  run.test = argv[1][1];
  size_t room = 1 << 18, kept = 0;
  auto grow = [&](size_t size) {
    void *memory = nullptr;
    if (posix_memalign(&memory, 4096, size + SIMDJSON_PADDING + 64) != 0) abort();
    return static_cast<char *>(memory);
  };
  char *buffer = grow(room);
  ssize_t got;
  while ((got = ::read(file, buffer + kept, room - kept)) > 0) {
    char *line = buffer, *end = buffer + kept + got, *from = buffer + kept;
    while (char *mark = static_cast<char *>(memchr(from, '\n', size_t(end - from)))) {
      run.take(line, size_t(mark - line));
      line = from = mark + 1;
    }
    kept = size_t(end - line);
    if (line == buffer && kept == room) {
      char *larger = grow(room * 2);
      memcpy(larger, buffer, kept);
      free(buffer);
      buffer = larger;
      room *= 2;
    } else {
      memmove(buffer, line, kept);
    }
  }
  if (kept) run.take(buffer, kept);
  for (auto &[kind, group] : run.groups)
    printf("{\"kind\":\"%s\",\"count\":%llu,\"usd_cost\":%.15g}\n", kind.c_str(), group.count,
           group.cost);
  if (run.bad > 10) fprintf(stderr, "exact: %llu bad lines\n", run.bad);
  if (fflush(stdout) != 0) return 2;
  return run.bad ? 2 : 0;
}
