#include "localcluster/apiserver/crd/json_path.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/strings.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;
using Results = std::vector<const Json*>;

namespace {

// One end of a comparison in a filter: a path from the item, or a value.
struct Operand {
  std::vector<JsonPath::Step> path;
  Json literal;
  bool is_path = false;
};

struct Slice {
  std::optional<int64_t> begin = {};
  std::optional<int64_t> end = {};
  int64_t step = 1;
  bool single = false;  // [3], as opposed to [3:4]
};

}  // namespace

struct JsonPath::Step {
  enum class Kind { kFields, kSlices, kWildcard, kDescend, kFilter };
  Kind kind;
  std::vector<std::string> fields = {};
  std::vector<Slice> slices = {};
  std::string op = {};  // filters: ==, !=, <, <=, >, >=; empty asks whether the path has a result
  std::vector<Operand> operands = {};
};

using Step = JsonPath::Step;

namespace {

// Filters nest; hostile definitions must not exhaust the stack.
constexpr int kMaxFilterDepth = 4;

class Parser {
 public:
  explicit Parser(std::string_view text, int depth = 0) : text_(text), depth_(depth) {}

  StatusOr<std::vector<Step>> Parse() {
    std::vector<Step> steps;
    if (Peek() == '$' || Peek() == '@') ++at_;
    while (at_ < text_.size()) {
      RETURN_IF_ERROR(ParseStep(steps));
    }
    return steps;
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  Status ParseStep(std::vector<Step>& steps) {
    if (Peek() == '[') return ParseBrackets(steps);
    if (Peek() != '.') {
      // Only the first name may stand without a dot.
      if (!steps.empty()) return Error("expected '.' or '['");
    } else if (text_.substr(at_).starts_with("..")) {
      at_ += 2;
      steps.push_back({.kind = Step::Kind::kDescend});
      if (Peek() == '[') return ParseBrackets(steps);
    } else {
      ++at_;
      if (Peek() == '[') return ParseBrackets(steps);
    }
    std::string name = ParseName();
    if (name.empty()) return Error("a field name is missing");
    if (name == "*") {
      steps.push_back({.kind = Step::Kind::kWildcard});
    } else {
      steps.push_back({.kind = Step::Kind::kFields, .fields = {std::move(name)}});
    }
    return absl::OkStatus();
  }

  std::string ParseName() {
    std::string name;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && at_ + 1 < text_.size()) {
        name += text_[at_ + 1];
        at_ += 2;
        continue;
      }
      if (c == '.' || c == '[' || c == ']' || c == ' ' || c == '{' || c == '}') break;
      name += c;
      ++at_;
    }
    return name;
  }

  // What stands between '[' and its ']', quotes respected.
  std::optional<std::string_view> TakeBrackets() {
    const size_t begin = ++at_;
    int open = 1;
    char quote = '\0';
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote != '\0') {
        if (c == '\\') {
          ++at_;
        } else if (c == quote) {
          quote = '\0';
        }
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == '[') {
        ++open;
      } else if (c == ']' && --open == 0) {
        return text_.substr(begin, at_++ - begin);
      }
    }
    return std::nullopt;
  }

  Status ParseBrackets(std::vector<Step>& steps) {
    const auto inside = TakeBrackets();
    if (!inside) return Error("unterminated '['");
    const std::string_view content = Trim(*inside);
    if (content == "*") {
      steps.push_back({.kind = Step::Kind::kWildcard});
      return absl::OkStatus();
    }
    if (content.starts_with("?(") && content.ends_with(")")) {
      return ParseFilter(content.substr(2, content.size() - 3), steps);
    }
    if (content.starts_with('\'') || content.starts_with('"')) {
      return ParseQuotedFields(content, steps);
    }
    return ParseSlices(content, steps);
  }

  Status ParseQuotedFields(std::string_view content, std::vector<Step>& steps) {
    Step step{.kind = Step::Kind::kFields};
    while (!content.empty()) {
      auto name = TakeQuoted(content);
      if (!name) return Error("expected a quoted field name");
      step.fields.push_back(std::move(*name));
      content = Trim(content);
      if (content.empty()) break;
      if (content.front() != ',') return Error("expected ','");
      content = Trim(content.substr(1));
    }
    steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  static std::optional<std::string> TakeQuoted(std::string_view& text) {
    if (text.empty() || (text.front() != '\'' && text.front() != '"')) return std::nullopt;
    const char quote = text.front();
    std::string value;
    for (size_t i = 1; i < text.size(); ++i) {
      if (text[i] == quote) {
        text.remove_prefix(i + 1);
        return value;
      }
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      value += text[i];
    }
    return std::nullopt;
  }

  Status ParseSlices(std::string_view content, std::vector<Step>& steps) {
    Step step{.kind = Step::Kind::kSlices};
    for (const std::string_view part : Split(content, ',')) {
      const auto slice = ParseSlice(Trim(part));
      if (!slice) return Error("expected an index, a range, '*', a quoted name or a filter");
      step.slices.push_back(*slice);
    }
    steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  static std::optional<Slice> ParseSlice(std::string_view text) {
    const auto parts = Split(text, ':');
    if (parts.size() > 3) return std::nullopt;
    Slice slice{.single = parts.size() == 1};
    std::optional<int64_t> numbers[3];
    for (size_t i = 0; i < parts.size(); ++i) {
      if (Trim(parts[i]).empty()) continue;
      numbers[i] = ParseInt(Trim(parts[i]));
      if (!numbers[i]) return std::nullopt;
    }
    if (slice.single && !numbers[0]) return std::nullopt;
    slice.begin = numbers[0];
    slice.end = numbers[1];
    slice.step = numbers[2].value_or(1);
    if (slice.step < 1) return std::nullopt;
    return slice;
  }

  Status ParseFilter(std::string_view content, std::vector<Step>& steps) {
    if (depth_ >= kMaxFilterDepth) return Error("filters are nested too deeply");
    Step step{.kind = Step::Kind::kFilter};
    const auto [position, length] = FindOperator(content);
    step.op = std::string(content.substr(position, length));
    RETURN_IF_ERROR(ParseOperand(Trim(content.substr(0, position)), step));
    if (length != 0) RETURN_IF_ERROR(ParseOperand(Trim(content.substr(position + length)), step));
    steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  static std::pair<size_t, size_t> FindOperator(std::string_view text) {
    char quote = '\0';
    for (size_t i = 0; i < text.size(); ++i) {
      if (quote != '\0') {
        if (text[i] == quote) quote = '\0';
      } else if (text[i] == '\'' || text[i] == '"') {
        quote = text[i];
      } else if (text[i] == '[') {
        // Nested brackets belong to an operand.
        i = std::min(text.find(']', i), text.size() - 1);
      } else {
        for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"}) {
          if (text.substr(i).starts_with(op)) return {i, op.size()};
        }
      }
    }
    return {text.size(), 0};
  }

  Status ParseOperand(std::string_view text, Step& step) {
    if (text.empty()) return Error("a filter compares with nothing");
    Operand operand;
    if (text.front() == '@' || text.front() == '$') {
      operand.is_path = true;
      ASSIGN_OR_RETURN(operand.path, Parser(text, depth_ + 1).Parse());
    } else if (auto quoted = TakeQuoted(text)) {
      operand.literal = *quoted;
    } else if (auto value = kube::ParseJson(text); value.ok() && value->is_primitive()) {
      operand.literal = std::move(*value);
    } else {
      return Error("a filter compares a path with a text, number or boolean");
    }
    step.operands.push_back(std::move(operand));
    return absl::OkStatus();
  }

  Status Error(std::string_view what) const {
    return InvalidArgument("invalid JSONPath {}: {}", Quote(text_), what);
  }

  std::string_view text_;
  int depth_;
  size_t at_ = 0;
};

Results Evaluate(const std::vector<Step>& steps, const Json& root);

void AddSlice(const json::array& array, const Slice& slice, Results& out) {
  const auto size = static_cast<int64_t>(array.size());
  const auto absolute = [size](int64_t index) { return index < 0 ? index + size : index; };
  if (slice.single) {
    const int64_t index = absolute(*slice.begin);
    if (index >= 0 && index < size) out.push_back(&array[static_cast<size_t>(index)]);
    return;
  }
  const int64_t begin = std::clamp<int64_t>(absolute(slice.begin.value_or(0)), 0, size);
  const int64_t end = std::clamp<int64_t>(slice.end ? absolute(*slice.end) : size, 0, size);
  for (int64_t i = begin; i < end; i += slice.step) out.push_back(&array[static_cast<size_t>(i)]);
}

void AddChildren(const Json& value, Results& out) {
  if (const auto* array = value.if_array()) {
    for (const Json& item : *array) out.push_back(&item);
  } else if (const auto* object = value.if_object()) {
    for (const auto& member : *object) out.push_back(&member.value());
  }
}

void AddDescendants(const Json& value, Results& out) {
  out.push_back(&value);
  Results children;
  AddChildren(value, children);
  for (const Json* child : children) AddDescendants(*child, out);
}

// Three-way where the values can be ordered: both numbers or both texts.
std::optional<int> Compare(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    const double x = a.to_number<double>(), y = b.to_number<double>();
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (a.is_string() && b.is_string()) return a.get_string().compare(b.get_string());
  if (a.is_bool() && b.is_bool()) return int{a.get_bool()} - int{b.get_bool()};
  return std::nullopt;
}

bool Holds(std::string_view op, const Json& a, const Json& b) {
  const auto order = Compare(a, b);
  if (op == "==") return order ? *order == 0 : kube::Equal(a, b);
  if (op == "!=") return order ? *order != 0 : !kube::Equal(a, b);
  if (!order) return false;
  if (op == "<") return *order < 0;
  if (op == "<=") return *order <= 0;
  if (op == ">") return *order > 0;
  return *order >= 0;
}

bool Matches(const Step& filter, const Json& item) {
  Results values[2];
  for (size_t i = 0; i < filter.operands.size(); ++i) {
    const Operand& operand = filter.operands[i];
    values[i] = operand.is_path ? Evaluate(operand.path, item) : Results{&operand.literal};
    if (values[i].empty()) return false;
  }
  return filter.op.empty() || Holds(filter.op, *values[0].front(), *values[1].front());
}

void Take(const Step& step, const Json& value, Results& out) {
  switch (step.kind) {
    case Step::Kind::kFields:
      if (const auto* object = value.if_object()) {
        for (const std::string& field : step.fields) {
          if (const Json* member = object->if_contains(field)) out.push_back(member);
        }
      }
      return;
    case Step::Kind::kSlices:
      if (const auto* array = value.if_array()) {
        for (const Slice& slice : step.slices) AddSlice(*array, slice, out);
      }
      return;
    case Step::Kind::kWildcard:
      return AddChildren(value, out);
    case Step::Kind::kDescend:
      return AddDescendants(value, out);
    case Step::Kind::kFilter:
      if (const auto* array = value.if_array()) {
        for (const Json& item : *array) {
          if (Matches(step, item)) out.push_back(&item);
        }
      }
      return;
  }
}

Results Evaluate(const std::vector<Step>& steps, const Json& root) {
  Results current{&root};
  for (const Step& step : steps) {
    Results next;
    for (const Json* value : current) Take(step, *value, next);
    current = std::move(next);
  }
  return current;
}

}  // namespace

JsonPath::JsonPath(std::vector<Step> steps)
    : steps_(std::make_shared<const std::vector<Step>>(std::move(steps))) {}

StatusOr<JsonPath> JsonPath::Parse(std::string_view text) {
  std::string_view path = Trim(text);
  if (path.starts_with('{') && path.ends_with('}')) {
    path = Trim(path.substr(1, path.size() - 2));
  }
  if (path.empty()) return InvalidArgument("invalid JSONPath: it is empty");
  ASSIGN_OR_RETURN(std::vector<Step> steps, Parser(path).Parse());
  return JsonPath(std::move(steps));
}

std::vector<const Json*> JsonPath::All(const Json& root) const { return Evaluate(*steps_, root); }

const Json* JsonPath::First(const Json& root) const {
  if (simple()) {
    const Json* at = &root;
    for (const Step& step : *steps_) {
      const auto* object = at->if_object();
      at = object == nullptr ? nullptr : object->if_contains(step.fields.front());
      if (at == nullptr) return nullptr;
    }
    return at;
  }
  const Results all = All(root);
  return all.empty() ? nullptr : all.front();
}

bool JsonPath::simple() const {
  return std::all_of(steps_->begin(), steps_->end(), [](const Step& step) {
    return step.kind == Step::Kind::kFields && step.fields.size() == 1;
  });
}

Json& JsonPath::Make(Json& root) const {
  Json* at = &root;
  for (const Step& step : *steps_) at = &kube::At(*at, {step.fields.front()});
  return *at;
}

}  // namespace koord::apiserver
