#include <yaml.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "base/strings.h"
#include "kube/yaml.h"
#include "kube/yaml_scalar.h"

// The parser is libyaml, whose rules are those of Kubernetes' own tools: theirs is a translation of
// it. What it leaves to its callers, and what a hostile text could make expensive, is dealt with
// here.
namespace koord::kube {
namespace {

constexpr int kMaxAliases = 1000;
// Of what anchors keep, and again of what aliases copy, in bytes as SizeOf counts them.
constexpr size_t kMaxCopied = 4 << 20;
// The parser compares each directive with all that stand above it.
constexpr int kMaxDirectives = 100;
// The parser looks at all open [ and { with each value: this many looks are allowed.
constexpr size_t kMaxFlowLooks = 4'000'000;

struct Place {
  int line = 0;  // from 0, as column
  int column = 0;
};

Place PlaceOf(const yaml_mark_t& mark) {
  return {static_cast<int>(mark.line), static_cast<int>(mark.column)};
}

Place PlaceOf(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const size_t line_start = before.rfind('\n') + 1;  // 0 if there is none
  return {static_cast<int>(std::ranges::count(before, '\n')),
          static_cast<int>(before.size() - line_start)};
}

Status ErrorAt(const Place& place, std::string_view message) {
  return InvalidArgument("{}:{}: {}", place.line + 1, place.column + 1, message);
}

Status TooDeep(const Place& place) {
  return ErrorAt(place, fmt::format("nested deeper than {} levels", kMaxJsonDepth));
}

// Roughly what a value takes, without those in it.
size_t SizeOf(const Json& value) {
  const json::string* text = value.if_string();
  return 32 + (text == nullptr ? 0 : text->size());
}

// A key that is no string is written as Kubernetes' converter writes it: 8080 -> "8080".
std::string KeyText(const Json& key) {
  if (key.is_string()) return std::string(std::string_view(key.get_string()));
  return key.is_double() ? fmt::format("{}", key.get_double()) : Serialize(key);
}

std::string_view TextOf(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

// Puts the documents together from the parser's events.
class DocumentBuilder {
 public:
  explicit DocumentBuilder(bool with_lines) : with_lines_(with_lines) {}

  std::vector<YamlDocument> TakeDocuments() { return std::move(documents_); }

  Status OnEvent(const yaml_event_t& event) {
    flow_looks_ += flow_depth_;
    const Place place = PlaceOf(event.start_mark);
    if (flow_looks_ > kMaxFlowLooks) return ErrorAt(place, "too much inside [ and {");
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        StartDocument(place);
        return absl::OkStatus();
      case YAML_SCALAR_EVENT:
        return OnScalar(place, event);
      case YAML_ALIAS_EVENT:
        return OnAlias(place, TextOf(event.data.alias.anchor));
      case YAML_SEQUENCE_START_EVENT:
        return Open(place, TextOf(event.data.sequence_start.anchor), json::array(),
                    event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE);
      case YAML_MAPPING_START_EVENT:
        return Open(place, TextOf(event.data.mapping_start.anchor), json::object(),
                    event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
      case YAML_SEQUENCE_END_EVENT:
        return Close();
      case YAML_MAPPING_END_EVENT:
        AddMerged();
        return Close();
      default:
        return absl::OkStatus();
    }
  }

 private:
  struct Frame {
    Json value;
    size_t size = 0;
    Place place;
    std::string anchor;
    std::string path;
    bool is_flow = false;
    bool has_key = false;
    bool merges = false;  // the key is <<
    std::string key;
    std::vector<Json> merged;
  };
  struct Anchored {
    Json value;
    size_t size = 0;
  };

  void StartDocument(const Place& place) {
    documents_.emplace_back().line = place.line + 1;
    anchors_.clear();
    alias_count_ = 0;
    anchored_ = copied_ = 0;
  }

  bool ExpectsKey() const {
    return !frames_.empty() && frames_.back().value.is_object() && !frames_.back().has_key;
  }

  // The path of what comes next.
  std::string NextPath() const {
    if (frames_.empty()) return {};
    const Frame& frame = frames_.back();
    if (const json::array* array = frame.value.if_array()) {
      return fmt::format("{}[{}]", frame.path, array->size());
    }
    return frame.path.empty() ? frame.key : frame.path + "." + frame.key;
  }

  void Note(const Place& place) {
    if (with_lines_) documents_.back().lines.try_emplace(NextPath(), place.line + 1);
  }

  Status OnScalar(const Place& place, const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const std::string_view tag = TextOf(scalar.tag);
    const bool is_text =
        tag.empty() ? scalar.style != YAML_PLAIN_SCALAR_STYLE : tag == "!" || tag == YAML_STR_TAG;
    Json value = is_text ? Json(text) : ResolvePlainScalar(text);
    const size_t size = SizeOf(value);
    if (scalar.anchor != nullptr) {
      RETURN_IF_ERROR(Keep(place, std::string(TextOf(scalar.anchor)), value, size));
    }
    if (!ExpectsKey()) return Put(place, std::move(value), size);
    RETURN_IF_ERROR(SetKey(place, KeyText(value)));
    frames_.back().merges = !is_text && text == "<<";
    return absl::OkStatus();
  }

  Status OnAlias(const Place& place, std::string_view name) {
    if (std::ranges::find(frames_, name, &Frame::anchor) != frames_.end()) {
      return ErrorAt(place, "an alias may not refer to what contains it");
    }
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) return ErrorAt(place, "an alias refers to nothing above it");
    const auto& [value, size] = found->second;
    copied_ += size;
    if (++alias_count_ > kMaxAliases || copied_ > kMaxCopied) {
      return ErrorAt(place, "too many aliases");
    }
    if (IsTooDeep(value, kMaxJsonDepth - frames_.size())) return TooDeep(place);
    if (!ExpectsKey()) return Put(place, value, size);
    if (value.is_structured()) return ErrorAt(place, "a key must be a scalar");
    return SetKey(place, KeyText(value));
  }

  // For aliases further down.
  Status Keep(const Place& place, std::string anchor, const Json& value, size_t size) {
    anchored_ += size;
    if (anchored_ > kMaxCopied) return ErrorAt(place, "too much has anchors");
    anchors_.insert_or_assign(std::move(anchor), Anchored{value, size});
    return absl::OkStatus();
  }

  Status SetKey(const Place& place, std::string key) {
    Frame& frame = frames_.back();
    if (frame.value.get_object().contains(key)) {
      return ErrorAt(place, fmt::format("the key {} occurs twice", Quote(key, 64)));
    }
    frame.size += key.size();
    frame.key = std::move(key);
    frame.has_key = true;
    frame.merges = false;
    Note(place);
    return absl::OkStatus();
  }

  Status Open(const Place& place, std::string_view anchor, Json value, bool is_flow) {
    if (ExpectsKey()) return ErrorAt(place, "a key must be a scalar");
    if (frames_.size() >= kMaxJsonDepth) return TooDeep(place);
    Note(place);
    std::string path = with_lines_ ? NextPath() : std::string();
    Frame& frame = frames_.emplace_back();
    frame.size = SizeOf(value);
    frame.value = std::move(value);
    frame.place = place;
    frame.anchor = anchor;
    frame.path = std::move(path);
    frame.is_flow = is_flow;
    flow_depth_ += is_flow ? 1 : 0;
    return absl::OkStatus();
  }

  Status Close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    flow_depth_ -= frame.is_flow ? 1 : 0;
    if (!frame.anchor.empty()) {
      RETURN_IF_ERROR(Keep(frame.place, std::move(frame.anchor), frame.value, frame.size));
    }
    return Put(frame.place, std::move(frame.value), frame.size);
  }

  Status Put(const Place& place, Json value, size_t size) {
    if (frames_.empty()) {
      Note(place);
      documents_.back().line = place.line + 1;
      documents_.back().value = std::move(value);
      return absl::OkStatus();
    }
    Frame& frame = frames_.back();
    frame.size += size;
    if (json::array* array = frame.value.if_array()) {
      Note(place);
      array->push_back(std::move(value));
      return absl::OkStatus();
    }
    frame.has_key = false;
    if (frame.merges) return Merge(place, frame, std::move(value));
    frame.value.get_object().emplace(frame.key, std::move(value));
    return absl::OkStatus();
  }

  // <<: *map or <<: [*map, *map]; what the map itself has wins, then the earlier source.
  static Status Merge(const Place& place, Frame& frame, Json value) {
    json::array sources;
    if (json::array* several = value.if_array()) {
      sources = std::move(*several);
    } else {
      sources.push_back(std::move(value));
    }
    for (Json& source : sources) {
      if (!source.is_object()) return ErrorAt(place, "<< needs a map or a list of maps");
      frame.merged.push_back(std::move(source));
    }
    return absl::OkStatus();
  }

  void AddMerged() {
    Frame& frame = frames_.back();
    for (const Json& source : frame.merged) {
      for (const auto& member : source.get_object()) {
        frame.value.get_object().emplace(member.key(), member.value());
      }
    }
  }

  const bool with_lines_;
  std::vector<YamlDocument> documents_;
  std::vector<Frame> frames_;
  size_t flow_depth_ = 0;
  size_t flow_looks_ = 0;
  std::map<std::string, Anchored, std::less<>> anchors_;
  int alias_count_ = 0;
  size_t anchored_ = 0;
  size_t copied_ = 0;
};

// What ends a line may be longer than one byte: U+0085, U+2028 and U+2029.
bool EndsLine(std::string_view text) {
  return text.empty() || text.ends_with('\n') || text.ends_with('\r') ||
         text.ends_with("\xc2\x85") || text.ends_with("\xe2\x80\xa8") ||
         text.ends_with("\xe2\x80\xa9");
}

Status CheckDirectives(std::string_view text) {
  int directives = 0;
  for (size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    if (!EndsLine(text.substr(0, at)) || ++directives <= kMaxDirectives) continue;
    return ErrorAt(PlaceOf(text, at), "too many directives");
  }
  return absl::OkStatus();
}

class EventStream {
 public:
  explicit EventStream(std::string_view text) : text_(text) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~EventStream() { yaml_parser_delete(&parser_); }
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  Status Run(DocumentBuilder& builder) {
    bool ended = false;
    while (!ended) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) == 0) return Error();
      ended = event.type == YAML_STREAM_END_EVENT;
      const Status status = builder.OnEvent(event);
      yaml_event_delete(&event);
      RETURN_IF_ERROR(status);
    }
    return absl::OkStatus();
  }

 private:
  Status Error() const {
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    if (parser_.error == YAML_READER_ERROR) {
      return ErrorAt(PlaceOf(text_, parser_.problem_offset), parser_.problem);
    }
    const std::string_view context = parser_.context == nullptr ? "" : parser_.context;
    const bool open_quote = context == "while scanning a quoted scalar" &&
                            std::string_view(parser_.problem).starts_with("found unexpected");
    return ErrorAt(ProblemPlace(), open_quote ? "a quoted text is not closed" : parser_.problem);
  }

  // What is missing at the end is missing from the last line with anything in it.
  Place ProblemPlace() const {
    const Place end = PlaceOf(text_, text_.find_last_not_of(" \r\n") + 1);
    const Place problem = PlaceOf(parser_.problem_mark);
    return problem.line > end.line ? end : problem;
  }

  const std::string_view text_;
  yaml_parser_t parser_;
};

StatusOr<std::vector<YamlDocument>> Parse(std::string_view text, bool with_lines) {
  if (!IsValidUtf8(text)) return InvalidArgument("1:1: the text is not UTF-8");
  RETURN_IF_ERROR(CheckDirectives(text));
  DocumentBuilder builder(with_lines);
  RETURN_IF_ERROR(EventStream(text).Run(builder));
  return builder.TakeDocuments();
}

}  // namespace

int YamlDocument::LineOf(std::string_view path) const {
  while (!path.empty()) {
    if (const auto it = lines.find(path); it != lines.end()) return it->second;
    const size_t end = path.find_last_of(".[");
    path = path.substr(0, end == std::string_view::npos ? 0 : end);
  }
  return line;
}

StatusOr<std::vector<YamlDocument>> ParseYamlDocuments(std::string_view text) {
  return Parse(text, true);
}

StatusOr<Json> ParseYaml(std::string_view text) {
  if (Trim(text).starts_with('{')) {
    if (StatusOr<Json> parsed = ParseJson(text); parsed.ok()) return parsed;
  }
  ASSIGN_OR_RETURN(std::vector<YamlDocument> documents, Parse(text, false));
  std::erase_if(documents, [](const YamlDocument& each) { return each.value.is_null(); });
  if (documents.empty()) return Json(nullptr);
  if (documents.size() > 1) {
    return InvalidArgument("{}:1: expected one document, found another", documents[1].line);
  }
  return std::move(documents.front().value);
}

}  // namespace koord::kube
