#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/strings.h"
#include "kube/yaml.h"
#include "kube/yaml_scalar.h"

namespace koord::kube {
namespace {

constexpr int kMaxAliases = 1000;
constexpr size_t kMaxAliasedNodes = 100'000;

[[noreturn]] void Fail(const YAML::Mark& mark, std::string message) {
  throw YAML::ParserException(mark, message);
}

size_t CountNodes(const Json& value) {
  size_t count = 1;
  if (const json::object* object = value.if_object()) {
    for (const auto& member : *object) count += CountNodes(member.value());
  } else if (const json::array* array = value.if_array()) {
    for (const Json& item : *array) count += CountNodes(item);
  }
  return count;
}

// A key that is no string is written as Kubernetes' converter writes it: 8080 -> "8080".
std::string KeyText(const Json& key) {
  if (key.is_string()) return std::string(std::string_view(key.get_string()));
  return key.is_double() ? fmt::format("{}", key.get_double()) : Serialize(key);
}

// Puts the documents together from the parser's events.
class DocumentBuilder final : public YAML::EventHandler {
 public:
  DocumentBuilder(bool with_lines, std::vector<int> markers)
      : with_lines_(with_lines), markers_(std::move(markers)) {}

  std::vector<YamlDocument> TakeDocuments() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // The parser starts a new document wherever the old one cannot go on.
    const auto marker = std::upper_bound(markers_.begin(), markers_.end(), previous_start_);
    if (!documents_.empty() && (marker == markers_.end() || *marker > mark.line)) {
      Fail(mark, "this does not belong to what stands above it");
    }
    previous_start_ = mark.line;
    documents_.emplace_back().line = mark.line + 1;
    anchors_.clear();
    alias_count_ = 0;
    aliased_nodes_ = 0;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Scalar(mark, anchor, nullptr, false);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool plain = tag != "!" && tag != "tag:yaml.org,2002:str";
    Scalar(mark, anchor, plain ? ResolvePlainScalar(value) : Json(value), plain && value == "<<");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) Fail(mark, "an alias may not refer to what contains it");
    aliased_nodes_ += CountNodes(it->second);
    if (++alias_count_ > kMaxAliases || aliased_nodes_ > kMaxAliasedNodes) {
      Fail(mark, "too many aliases");
    }
    if (IsTooDeep(it->second, kMaxJsonDepth - std::min(frames_.size(), kMaxJsonDepth)))
      TooDeep(mark);
    if (!ExpectsKey()) return Put(mark, it->second);
    if (it->second.is_structured()) Fail(mark, "a key must be a scalar");
    SetKey(mark, KeyText(it->second));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, anchor, json::array());
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, anchor, json::object());
  }
  void OnMapEnd() override {
    Frame& frame = frames_.back();
    json::object& object = frame.value.get_object();
    for (const Json& source : frame.merged) {
      for (const auto& member : source.get_object()) object.emplace(member.key(), member.value());
    }
    Close();
  }

 private:
  struct Frame {
    Json value;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::string path;
    bool has_key = false;
    bool merges = false;  // the key is <<
    std::string key;
    std::vector<Json> merged;
  };

  [[noreturn]] static void TooDeep(const YAML::Mark& mark) {
    Fail(mark, fmt::format("nested deeper than {} levels", kMaxJsonDepth));
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

  void Note(const YAML::Mark& mark) {
    if (with_lines_) documents_.back().lines.try_emplace(NextPath(), mark.line + 1);
  }

  void Scalar(const YAML::Mark& mark, YAML::anchor_t anchor, Json value, bool is_merge_key) {
    if (anchor != YAML::NullAnchor) anchors_.insert_or_assign(anchor, value);
    if (!ExpectsKey()) return Put(mark, std::move(value));
    SetKey(mark, KeyText(value));
    frames_.back().merges = is_merge_key;
  }

  void SetKey(const YAML::Mark& mark, std::string key) {
    Frame& frame = frames_.back();
    if (frame.value.get_object().contains(key)) {
      Fail(mark, fmt::format("the key {} occurs twice", Quote(key, 64)));
    }
    frame.key = std::move(key);
    frame.has_key = true;
    frame.merges = false;
    Note(mark);
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, Json value) {
    if (ExpectsKey()) Fail(mark, "a key must be a scalar");
    if (frames_.size() >= kMaxJsonDepth) TooDeep(mark);
    Note(mark);
    std::string path = with_lines_ ? NextPath() : std::string();
    Frame& frame = frames_.emplace_back();
    frame.value = std::move(value);
    frame.mark = mark;
    frame.anchor = anchor;
    frame.path = std::move(path);
  }

  void Close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (frame.anchor != YAML::NullAnchor) anchors_.insert_or_assign(frame.anchor, frame.value);
    Put(frame.mark, std::move(frame.value));
  }

  void Put(const YAML::Mark& mark, Json value) {
    if (frames_.empty()) {
      Note(mark);
      documents_.back().line = mark.line + 1;
      documents_.back().value = std::move(value);
      return;
    }
    Frame& frame = frames_.back();
    if (json::array* array = frame.value.if_array()) {
      Note(mark);
      array->push_back(std::move(value));
      return;
    }
    frame.has_key = false;
    if (frame.merges) {
      Merge(mark, frame, std::move(value));
    } else {
      frame.value.get_object().emplace(frame.key, std::move(value));
    }
  }

  // <<: *map or <<: [*map, *map]; what the map itself has wins, then the earlier source.
  static void Merge(const YAML::Mark& mark, Frame& frame, Json value) {
    const auto add = [&](Json& source) {
      if (!source.is_object()) Fail(mark, "<< needs a map or a list of maps");
      frame.merged.push_back(std::move(source));
    };
    if (json::array* sources = value.if_array()) {
      for (Json& source : *sources) add(source);
    } else {
      add(value);
    }
  }

  const bool with_lines_;
  const std::vector<int> markers_;  // lines between documents
  int previous_start_ = -1;
  std::vector<YamlDocument> documents_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Json> anchors_;
  int alias_count_ = 0;
  size_t aliased_nodes_ = 0;
};

// What the parser itself is too lenient about.
struct TextFacts {
  Status status;
  std::vector<int> markers;  // lines (from 0) that start or end a document
};

bool IsDocumentMarker(std::string_view line) {
  if (!line.starts_with("---") && !line.starts_with("...")) return false;
  return line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r';
}

// YAML forbids control characters, and the parser takes some of them for the end of the text.
TextFacts Examine(std::string_view text) {
  if (!IsValidUtf8(text)) return {InvalidArgument("1:1: the text is not UTF-8"), {}};
  TextFacts facts;
  int number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    const auto forbidden = std::find_if(line.begin(), line.end(), [](char c) {
      return static_cast<uint8_t>(c) < 0x20 && c != '\t' && c != '\r';
    });
    if (forbidden != line.end()) {
      facts.status = InvalidArgument("{}:{}: control characters are not allowed", number + 1,
                                     forbidden - line.begin() + 1);
      return facts;
    }
    if (IsDocumentMarker(line)) facts.markers.push_back(number);
    ++number;
  }
  return facts;
}

StatusOr<std::vector<YamlDocument>> Parse(std::string_view text, bool with_lines) {
  TextFacts facts = Examine(text);
  RETURN_IF_ERROR(facts.status);
  DocumentBuilder builder(with_lines, std::move(facts.markers));
  std::string whole(text);
  // The parser lets the end of the text close a quote; a marker it does not.
  if (whole.ends_with('\n')) whole += "...\n";
  try {
    std::istringstream stream(whole);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    const bool open_quote =
        error.msg == YAML::ErrorMsg::DOC_IN_SCALAR || error.msg == YAML::ErrorMsg::EOF_IN_SCALAR;
    return InvalidArgument("{}:{}: {}", error.mark.line + 1, error.mark.column + 1,
                           open_quote ? "a quoted text is not closed" : error.msg);
  }
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
