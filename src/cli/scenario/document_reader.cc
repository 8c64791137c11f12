#include "cli/scenario/document_reader.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "base/suggest.h"

namespace koord::scenario {

using kube::Json;

int Reader::line() const { return document_.LineOf(path_); }

Status Reader::Error(std::string_view message) const {
  if (path_.empty()) return InvalidArgument("{}:{}: {}", file_, line(), message);
  return InvalidArgument("{}:{}: {}: {}", file_, line(), path_, message);
}

Reader Reader::At(std::string_view member, const Json& value) const {
  std::string path = path_.empty() ? std::string(member) : path_ + "." + std::string(member);
  return {file_, document_, std::move(path), value};
}

Reader Reader::At(size_t index, const Json& value) const {
  return {file_, document_, path_ + "[" + std::to_string(index) + "]", value};
}

Status Reader::CheckMembers(std::initializer_list<std::string_view> known) const {
  if (!value_.is_object()) return Error("expected a mapping of " + Join(known, ", "));
  for (const auto& [name, value] : value_.get_object()) {
    if (std::find(known.begin(), known.end(), std::string_view(name)) != known.end()) continue;
    const std::vector<std::string> candidates(known.begin(), known.end());
    const auto suggestion = Suggest(std::string_view(name), candidates);
    return At(std::string_view(name), value)
        .Error(suggestion ? "unknown key; did you mean " + *suggestion + "?"
                          : "unknown key; expected one of " + Join(known, ", "));
  }
  return absl::OkStatus();
}

const Json* Reader::Member(std::string_view name) const {
  const auto* object = value_.if_object();
  const Json* member = object == nullptr ? nullptr : object->if_contains(name);
  return member == nullptr || member->is_null() ? nullptr : member;
}

StatusOr<std::string> Reader::String(std::string_view name, bool required) const {
  const Json* member = Member(name);
  if (member == nullptr) {
    if (required) return Error(std::string(name) + " is required");
    return std::string();
  }
  if (!member->is_string()) return At(name, *member).Error("expected a string");
  return std::string(std::string_view(member->get_string()));
}

StatusOr<int64_t> Reader::Integer(std::string_view name) const {
  const Json* member = Member(name);
  if (member == nullptr) return Error(std::string(name) + " is required");
  boost::system::error_code error;
  const auto number = member->to_number<int64_t>(error);
  if (error) return At(name, *member).Error("expected an integer");
  return number;
}

}  // namespace koord::scenario
