#include "base/strings.h"
#include "kube/selectors.h"

namespace koord::kube {
namespace {

// Where the first `end` that no backslash escapes is.
size_t FindUnescaped(std::string_view text, char end) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == end) {
      return i;
    }
  }
  return std::string_view::npos;
}

StatusOr<std::string> Unescape(std::string_view text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',' || text[i] == '=') {
      return InvalidArgument("invalid field selector: unescaped {} in value {}", text[i],
                             Quote(text));
    }
    if (text[i] == '\\') {
      ++i;
      const bool known = i < text.size() && (text[i] == ',' || text[i] == '=' || text[i] == '\\');
      if (!known) {
        return InvalidArgument("invalid field selector: invalid escape sequence in {}",
                               Quote(text));
      }
    }
    value += text[i];
  }
  return value;
}

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ',' || c == '=' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

StatusOr<FieldMatcher::Requirement> ParseRequirement(std::string_view text) {
  const size_t end = text.find_first_of("=!");
  const std::string_view rest = end == std::string_view::npos ? "" : text.substr(end);
  for (const std::string_view op : {"!=", "==", "="}) {
    if (!rest.starts_with(op)) continue;
    FieldMatcher::Requirement requirement;
    requirement.field = Trim(text.substr(0, end));
    requirement.equal = op != "!=";
    ASSIGN_OR_RETURN(requirement.value, Unescape(rest.substr(op.size())));
    return requirement;
  }
  return InvalidArgument("invalid selector: '{}'; can't understand '{}'", text, text);
}

}  // namespace

StatusOr<FieldMatcher> FieldMatcher::Parse(std::string_view text) {
  FieldMatcher matcher;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(FindUnescaped(rest, ','), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty()) continue;
    ASSIGN_OR_RETURN(Requirement requirement, ParseRequirement(part));
    matcher.requirements_.push_back(std::move(requirement));
  }
  return matcher;
}

std::optional<std::string_view> FieldMatcher::RequiredValue(std::string_view field) const {
  for (const Requirement& each : requirements_) {
    if (each.equal && each.field == field) return each.value;
  }
  return {};
}

std::string FieldMatcher::ToString() const {
  std::vector<std::string> parts;
  for (const Requirement& each : requirements_) {
    parts.push_back(each.field + (each.equal ? "=" : "!=") + Escape(each.value));
  }
  return Join(parts, ",");
}

}  // namespace koord::kube
