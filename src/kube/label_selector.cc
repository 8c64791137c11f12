#include "base/strings.h"
#include "kube/names.h"
#include "kube/selectors.h"

namespace koord::kube {
namespace {

using Operator = LabelMatcher::Operator;

std::string_view Symbol(Operator op) {
  switch (op) {
    case Operator::kIn:
      return " in ";
    case Operator::kNotIn:
      return " notin ";
    case Operator::kEquals:
      return "=";
    case Operator::kDoubleEquals:
      return "==";
    case Operator::kNotEquals:
      return "!=";
    case Operator::kGreater:
      return ">";
    case Operator::kLess:
      return "<";
    case Operator::kExists:
    case Operator::kDoesNotExist:
      return "";
  }
  return "";
}

// Words and symbols of a selector's text.
class Lexer {
 public:
  enum class Kind { kEnd, kWord, kSymbol };
  struct Token {
    Kind kind = Kind::kEnd;
    std::string_view text;

    bool Is(std::string_view symbol) const { return kind == Kind::kSymbol && text == symbol; }
    bool ends_requirement() const { return kind == Kind::kEnd || Is(","); }
  };

  explicit Lexer(std::string_view text) : rest_(text) { Advance(); }

  const Token& Peek() const { return next_; }
  Token Take() {
    const Token taken = next_;
    Advance();
    return taken;
  }

 private:
  static bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  static bool IsSymbol(char c) { return std::string_view("=!(),<>").find(c) != std::string::npos; }

  void Advance() {
    while (!rest_.empty() && IsSpace(rest_.front())) rest_.remove_prefix(1);
    if (rest_.empty()) {
      next_ = {};
    } else if (IsSymbol(rest_.front())) {
      const bool two = rest_.starts_with("==") || rest_.starts_with("!=");
      next_ = {Kind::kSymbol, rest_.substr(0, two ? 2 : 1)};
    } else {
      size_t length = 0;
      while (length < rest_.size() && !IsSpace(rest_[length]) && !IsSymbol(rest_[length])) {
        ++length;
      }
      next_ = {Kind::kWord, rest_.substr(0, length)};
    }
    rest_.remove_prefix(next_.text.size());
  }

  std::string_view rest_;
  Token next_;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  StatusOr<LabelMatcher> Run() {
    LabelMatcher matcher;
    while (lexer_.Peek().kind != Lexer::Kind::kEnd) {
      if (!StartsRequirement()) return Unexpected(": !, identifier, or 'end of string'");
      if (const Status status = Requirement(matcher); !status.ok()) {
        return InvalidArgument("unable to parse requirement: {}", Message(status));
      }
      if (!lexer_.Peek().ends_requirement()) return Unexpected(": ',' or 'end of string'");
      if (lexer_.Take().kind == Lexer::Kind::kEnd) break;
      if (!StartsRequirement()) return Unexpected(": identifier after ','");
    }
    return matcher;
  }

 private:
  bool StartsRequirement() const {
    return lexer_.Peek().kind == Lexer::Kind::kWord || lexer_.Peek().Is("!");
  }

  Status Unexpected(std::string_view expected) const {
    return InvalidArgument("found '{}', expected{}", lexer_.Peek().text, expected);
  }

  Status Requirement(LabelMatcher& matcher) {
    const bool negated = lexer_.Peek().Is("!");
    if (negated) lexer_.Take();
    if (lexer_.Peek().kind != Lexer::Kind::kWord) return Unexpected(": identifier");
    std::string key(lexer_.Take().text);
    if (const std::string wrong = CheckQualifiedName(key); !wrong.empty()) {
      return InvalidArgument("<nil>: Invalid value: {}: {}", Quote(key), wrong);
    }
    // After !key nothing may follow; the caller sees what does.
    if (negated) return matcher.Add(std::move(key), Operator::kDoesNotExist, {});
    if (lexer_.Peek().ends_requirement()) {
      return matcher.Add(std::move(key), Operator::kExists, {});
    }
    Operator op{};
    RETURN_IF_ERROR(ReadOperator(op));
    std::vector<std::string> values;
    RETURN_IF_ERROR(op == Operator::kIn || op == Operator::kNotIn ? ValueList(values)
                                                                  : SingleValue(values));
    return matcher.Add(std::move(key), op, std::move(values));
  }

  Status ReadOperator(Operator& op) {
    static constexpr std::pair<std::string_view, Operator> kOperators[] = {
        {"in", Operator::kIn},           {"notin", Operator::kNotIn},  {"=", Operator::kEquals},
        {"==", Operator::kDoubleEquals}, {"!=", Operator::kNotEquals}, {">", Operator::kGreater},
        {"<", Operator::kLess},
    };
    for (const auto& [text, value] : kOperators) {
      if (lexer_.Peek().text != text) continue;
      op = value;
      lexer_.Take();
      return absl::OkStatus();
    }
    return Unexpected(": in, notin, =, ==, !=, gt, lt");
  }

  Status SingleValue(std::vector<std::string>& values) {
    if (lexer_.Peek().ends_requirement()) {
      values.emplace_back();
    } else if (lexer_.Peek().kind == Lexer::Kind::kWord) {
      values.emplace_back(lexer_.Take().text);
    } else {
      return Unexpected(": identifier");
    }
    return absl::OkStatus();
  }

  // (a,b); a missing word is the empty value.
  Status ValueList(std::vector<std::string>& values) {
    if (!lexer_.Peek().Is("(")) return Unexpected(": '('");
    do {
      lexer_.Take();
      const bool word = lexer_.Peek().kind == Lexer::Kind::kWord;
      values.emplace_back(word ? lexer_.Take().text : std::string_view());
    } while (lexer_.Peek().Is(","));
    if (!lexer_.Peek().Is(")")) return Unexpected(": ',' or ')'");
    lexer_.Take();
    return absl::OkStatus();
  }

  Lexer lexer_;
};

Status CheckValues(const std::string& key, Operator op, const std::vector<std::string>& values) {
  switch (op) {
    case Operator::kIn:
    case Operator::kNotIn:
      if (values.empty()) {
        return InvalidArgument(
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
      }
      break;
    case Operator::kExists:
    case Operator::kDoesNotExist:
      if (!values.empty()) {
        return InvalidArgument(
            "values: Invalid value: [{}]: values set must be empty for exists and does not exist",
            Join(values, ","));
      }
      break;
    case Operator::kGreater:
    case Operator::kLess:
      if (values.size() != 1 || !ParseInt(values[0])) {
        return InvalidArgument(
            "values[0]: Invalid value: {}: for 'Gt', 'Lt' operators, the value must be an integer",
            Quote(values.empty() ? "" : values[0]));
      }
      break;
    case Operator::kEquals:
    case Operator::kDoubleEquals:
    case Operator::kNotEquals:
      if (values.size() != 1) {
        return InvalidArgument(
            "values: Invalid value: [{}]: exact-match compatibility requires one single value",
            Join(values, ","));
      }
      break;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (const std::string wrong = CheckLabelValue(values[i]); !wrong.empty()) {
      return InvalidArgument("values[{}][{}]: Invalid value: {}: {}", i, key, Quote(values[i]),
                             wrong);
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool LabelMatcher::Requirement::Matches(std::optional<std::string_view> value) const {
  const auto listed = [&] {
    return value && std::binary_search(values.begin(), values.end(), *value, std::less<>());
  };
  switch (op) {
    case Operator::kExists:
      return value.has_value();
    case Operator::kDoesNotExist:
      return !value;
    case Operator::kIn:
    case Operator::kEquals:
    case Operator::kDoubleEquals:
      return listed();
    case Operator::kNotIn:
    case Operator::kNotEquals:
      return !listed();
    case Operator::kGreater:
    case Operator::kLess: {
      const std::optional<int64_t> number = value ? ParseInt(*value) : std::nullopt;
      const std::optional<int64_t> bound = ParseInt(values[0]);
      if (!number || !bound) return false;
      return op == Operator::kGreater ? *number > *bound : *number < *bound;
    }
  }
  return false;
}

std::string LabelMatcher::Requirement::ToString() const {
  std::string text = op == Operator::kDoesNotExist ? "!" + key : key;
  text += Symbol(op);
  const bool list = op == Operator::kIn || op == Operator::kNotIn;
  if (list) text += '(';
  text += Join(values, ",");
  if (list) text += ')';
  return text;
}

StatusOr<LabelMatcher> LabelMatcher::Parse(std::string_view text) { return Parser(text).Run(); }

Status LabelMatcher::Add(std::string key, Operator op, std::vector<std::string> values) {
  if (const std::string wrong = CheckQualifiedName(key); !wrong.empty()) {
    return InvalidArgument("key: Invalid value: {}: {}", Quote(key), wrong);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  RETURN_IF_ERROR(CheckValues(key, op, values));
  const auto place =
      std::upper_bound(requirements_.begin(), requirements_.end(), key,
                       [](const std::string& a, const Requirement& b) { return a < b.key; });
  requirements_.insert(place, Requirement{std::move(key), op, std::move(values)});
  return absl::OkStatus();
}

Status LabelMatcher::AddExpression(std::string key, std::string_view op,
                                   std::vector<std::string> values) {
  static constexpr std::pair<std::string_view, Operator> kOperators[] = {
      {"In", Operator::kIn},
      {"NotIn", Operator::kNotIn},
      {"Exists", Operator::kExists},
      {"DoesNotExist", Operator::kDoesNotExist},
  };
  for (const auto& [name, value] : kOperators) {
    if (name == op) return Add(std::move(key), value, std::move(values));
  }
  return InvalidArgument("{} is not a valid label selector operator", Quote(op));
}

StatusOr<LabelMatcher> LabelMatcher::FromJson(const Json& selector) {
  LabelMatcher matcher;
  if (const json::object* labels = FindObject(selector, {"matchLabels"})) {
    for (const auto& [key, value] : *labels) {
      const json::string* text = value.if_string();
      if (text == nullptr) return InvalidArgument("matchLabels.{}: expected a string", key);
      RETURN_IF_ERROR(
          matcher.Add(std::string(key), Operator::kEquals, {std::string(std::string_view(*text))}));
    }
  }
  if (const json::array* expressions = FindArray(selector, {"matchExpressions"})) {
    for (const Json& each : *expressions) {
      std::vector<std::string> values;
      if (const json::array* list = FindArray(each, {"values"})) {
        for (const Json& value : *list) values.emplace_back(FindString(value, {}));
      }
      RETURN_IF_ERROR(matcher.AddExpression(std::string(FindString(each, {"key"})),
                                            FindString(each, {"operator"}), std::move(values)));
    }
  }
  return matcher;
}

bool LabelMatcher::Matches(const std::vector<std::pair<std::string, std::string>>& labels) const {
  return MatchesBy([&](const std::string& key) -> std::optional<std::string_view> {
    const auto it =
        std::lower_bound(labels.begin(), labels.end(), key,
                         [](const auto& label, const std::string& k) { return label.first < k; });
    if (it == labels.end() || it->first != key) return {};
    return it->second;
  });
}

bool LabelMatcher::Matches(const json::object* labels) const {
  return MatchesBy([&](const std::string& key) -> std::optional<std::string_view> {
    const Json* value = labels == nullptr ? nullptr : labels->if_contains(key);
    if (value == nullptr || !value->is_string()) return {};
    return std::string_view(value->get_string());
  });
}

std::string LabelMatcher::ToString() const {
  std::vector<std::string> parts;
  for (const Requirement& each : requirements_) parts.push_back(each.ToString());
  return Join(parts, ",");
}

}  // namespace koord::kube
