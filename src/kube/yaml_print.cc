#include <algorithm>

#include "base/strings.h"
#include "kube/yaml.h"
#include "kube/yaml_scalar.h"

namespace koord::kube {
namespace {

// Other readers take these for something else than text: dates, sexagesimal numbers, y and n.
bool LooksTyped(std::string_view text) {
  if (!ResolvePlainScalar(text).is_string()) return true;
  if (text == "<<" || text == "=") return true;
  if (text.size() == 1 && std::string_view("yYnN").find(text[0]) != std::string_view::npos) {
    return true;
  }
  const bool numeric = std::all_of(text.begin(), text.end(), [](char c) {
    return IsDigit(c) || c == ':' || c == '.' || c == '-' || c == '+' || c == '_';
  });
  const bool date = text.size() >= 10 && std::all_of(text.begin(), text.begin() + 4, IsDigit) &&
                    text[4] == '-' && IsDigit(text[5]);
  return date || (numeric && text.find(':') != std::string_view::npos);
}

bool HasIndicators(std::string_view text) {
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return true;
  constexpr std::string_view kNeverFirst = ",[]{}#&*!|>'\"%@`";
  if (kNeverFirst.find(text.front()) != std::string_view::npos) return true;
  const bool alone = text.size() == 1 || text[1] == ' ';
  if ((text[0] == '-' || text[0] == '?' || text[0] == ':') && alone) return true;
  return text.starts_with("---") || text.starts_with("...") ||
         text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos;
}

// The length of a character at the start of the text that readers refuse, drop or take for the end
// of a line; 0 if it is none of those.
size_t SpecialAt(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; };
  if ((at(0) < 0x20 && at(0) != '\n') || at(0) == 0x7f) return 1;
  if (at(0) == 0xc2 && at(1) < 0xa0) return 2;  // U+0080 to U+009F
  const bool ends_line = at(0) == 0xe2 && at(1) == 0x80 && (at(2) == 0xa8 || at(2) == 0xa9);
  const bool orders_bytes = at(0) == 0xef && at(1) == 0xbb && at(2) == 0xbf;
  const bool is_none = at(0) == 0xef && at(1) == 0xbf && at(2) >= 0xbe;  // U+FFFE and U+FFFF
  return ends_line || orders_bytes || is_none ? 3 : 0;
}

bool HasSpecial(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (SpecialAt(text.substr(i)) != 0) return true;
  }
  return false;
}

// A double-quoted JSON string is a YAML one too, but for some characters beyond ASCII.
std::string DoubleQuoted(std::string_view text) {
  const std::string json = Serialize(Json(text));
  std::string quoted;
  for (size_t i = 0; i < json.size();) {
    const size_t length = SpecialAt(std::string_view(json).substr(i));
    if (length == 0) {
      quoted += json[i++];
      continue;
    }
    const auto at = [&](size_t k) { return static_cast<uint8_t>(json[i + k]); };
    const uint32_t code = length == 1 ? at(0)
                          : length == 2
                              ? (at(0) & 0x1fU) << 6 | (at(1) & 0x3fU)
                              : (at(0) & 0xfU) << 12 | (at(1) & 0x3fU) << 6 | (at(2) & 0x3fU);
    fmt::format_to(std::back_inserter(quoted), "\\u{:04x}", code);
    i += length;
  }
  return quoted;
}

std::string SingleQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c;
    if (c == '\'') quoted += '\'';
  }
  return quoted += '\'';
}

// On one line.
std::string InlineString(std::string_view text) {
  const bool special = HasSpecial(text) || text.find('\n') != std::string_view::npos;
  if (special || LooksTyped(text)) return DoubleQuoted(text);
  return HasIndicators(text) ? SingleQuoted(text) : std::string(text);
}

// Text of several lines reads best as a literal block, where that can hold it.
bool FitsLiteral(std::string_view text) {
  return text.find('\n') != std::string_view::npos && text.front() != '\n' && text.front() != ' ' &&
         !HasSpecial(text) && text.find(" \n") == std::string_view::npos && !text.ends_with(' ');
}

class Printer {
 public:
  std::string Take() { return std::move(out_); }

  // `indent` is that of the block's lines. The first line has been started by the caller.
  void Value(const Json& value, size_t indent) {
    if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
      Map(*object, indent);
    } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
      List(*array, indent);
    } else {
      Scalar(value, indent);
      out_ += '\n';
    }
  }

 private:
  static bool IsBlock(const Json& value) {
    return (value.is_object() && !value.get_object().empty()) ||
           (value.is_array() && !value.get_array().empty());
  }

  void Map(const json::object& object, size_t indent) {
    bool first = true;
    for (const auto& member : object) {
      if (!first) out_.append(indent, ' ');
      first = false;
      Key(member.key(), indent);
      const Json& value = member.value();
      if (!IsBlock(value)) {
        out_ += ' ';
        Value(value, indent + 2);
        continue;
      }
      // A list stands as far left as the key that it belongs to.
      const size_t inner = value.is_array() ? indent : indent + 2;
      out_ += '\n';
      out_.append(inner, ' ');
      Value(value, inner);
    }
  }

  // Readers find out within so many characters whether something is a key, unless they are told.
  void Key(std::string_view key, size_t indent) {
    constexpr size_t kMostUntold = 128;
    const bool is_told = key.size() > kMostUntold;
    if (is_told) out_ += "? ";
    out_ += InlineString(key);
    if (is_told) out_.append(1, '\n').append(indent, ' ');
    out_ += ':';
  }

  void List(const json::array& array, size_t indent) {
    bool first = true;
    for (const Json& item : array) {
      if (!first) out_.append(indent, ' ');
      first = false;
      out_ += "- ";
      Value(item, indent + 2);
    }
  }

  void Scalar(const Json& value, size_t indent) {
    if (const json::string* string = value.if_string()) {
      const std::string_view text = *string;
      if (FitsLiteral(text)) return Literal(text, indent);
      out_ += InlineString(text);
    } else if (const double* number = value.if_double()) {
      fmt::format_to(std::back_inserter(out_), "{}", *number);
    } else {
      out_ += Serialize(value);  // {} and [] among others
    }
  }

  void Literal(std::string_view text, size_t indent) {
    const bool ends_line = text.ends_with('\n');
    out_ += !ends_line ? "|-" : text.ends_with("\n\n") ? "|+" : "|";
    if (ends_line) text.remove_suffix(1);
    size_t start = 0;
    while (start <= text.size()) {
      const size_t end = std::min(text.find('\n', start), text.size());
      out_ += '\n';
      if (end > start) out_.append(std::max<size_t>(indent, 2), ' ');
      out_ += text.substr(start, end - start);
      start = end + 1;
    }
  }

  std::string out_;
};

}  // namespace

std::string ToYaml(const Json& value) {
  Printer printer;
  printer.Value(value, 0);
  return printer.Take();
}

}  // namespace koord::kube
