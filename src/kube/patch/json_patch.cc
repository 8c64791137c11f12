#include "kube/patch/json_patch.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "kube/patch/patch_error.h"

namespace koord::kube {
namespace {

using patch_internal::Inapplicable;
using patch_internal::Malformed;
using Path = std::vector<std::string>;

// Copies and moves repeat what is already there, so a small patch could cost and grow without
// bound.
constexpr size_t kMaxTransferredBytes = 3 << 20;

// So could insertions into a long list and removals from it, each of which moves what is behind it.
// As many operations as there may be can all insert at the front of an empty list.
constexpr size_t kMaxShiftedItems = 64 << 20;
static_assert(kMaxJsonPatchOperations * kMaxJsonPatchOperations / 2 < kMaxShiftedItems);

struct Operation {
  enum class Kind { kAdd, kRemove, kReplace, kMove, kCopy, kTest };
  Kind kind = Kind::kAdd;
  Path path;
  Path from;                    // move and copy
  const Json* value = nullptr;  // add, replace and test
};

Status BadOperation(size_t index, std::string_view what) {
  return Malformed(fmt::format("error decoding patch: operation {}: {}", index, what));
}

// Splits a JSON pointer and undoes its escapes.
std::optional<Path> ParsePointer(std::string_view text) {
  Path path;
  if (text.empty()) return path;
  if (text.front() != '/') return {};
  for (const std::string_view part : Split(text.substr(1), '/')) {
    std::string& token = path.emplace_back();
    for (size_t i = 0; i < part.size(); ++i) {
      if (part[i] != '~') {
        token += part[i];
        continue;
      }
      ++i;
      if (i == part.size() || (part[i] != '0' && part[i] != '1')) return {};
      token += part[i] == '0' ? '~' : '/';
    }
  }
  return path;
}

StatusOr<Path> ReadPointer(const json::object& operation, std::string_view name, size_t index) {
  const Json* value = operation.if_contains(name);
  if (value == nullptr || !value->is_string()) {
    return BadOperation(index, fmt::format("{} is missing", name));
  }
  std::optional<Path> path = ParsePointer(value->get_string());
  if (!path) return BadOperation(index, fmt::format("{} is not a JSON pointer", name));
  return *std::move(path);
}

StatusOr<Operation> ReadOperation(const Json& json, size_t index) {
  using Kind = Operation::Kind;
  static constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"add", Kind::kAdd},   {"remove", Kind::kRemove}, {"replace", Kind::kReplace},
      {"move", Kind::kMove}, {"copy", Kind::kCopy},     {"test", Kind::kTest},
  };
  const json::object* object = json.if_object();
  if (object == nullptr) return BadOperation(index, "expected an object");
  const std::string_view name = FindString(json, {"op"});
  const auto* known = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const auto& each) { return each.first == name; });
  if (known == std::end(kKinds)) {
    return BadOperation(index, fmt::format("unknown op {}", Quote(name, 64)));
  }
  Operation operation;
  operation.kind = known->second;
  ASSIGN_OR_RETURN(operation.path, ReadPointer(*object, "path", index));
  if (operation.kind == Kind::kMove || operation.kind == Kind::kCopy) {
    ASSIGN_OR_RETURN(operation.from, ReadPointer(*object, "from", index));
  } else if (operation.kind != Kind::kRemove) {
    operation.value = object->if_contains("value");
    if (operation.value == nullptr) return BadOperation(index, "value is missing");
  }
  return operation;
}

// A position in a list of this size, or nullopt. Negative numbers count from the end.
std::optional<size_t> ParseIndex(std::string_view token, size_t size) {
  const std::optional<int64_t> index = ParseInt(token);
  const bool padded = token.starts_with("0") ? token.size() > 1 : token.starts_with("-0");
  if (!index || padded) return {};
  const int64_t at = *index < 0 ? *index + static_cast<int64_t>(size) : *index;
  if (at < 0 || at >= static_cast<int64_t>(size)) return {};
  return static_cast<size_t>(at);
}

// Nesting and roughly the length of the text.
struct Extent {
  size_t depth = 0;
  size_t bytes = 0;
};

Extent Measure(const Json& value) {
  Extent extent;
  const auto add = [&](const Json& child) {
    const Extent inner = Measure(child);
    extent.depth = std::max(extent.depth, inner.depth);
    extent.bytes += inner.bytes + 1;
  };
  if (const json::object* object = value.if_object()) {
    for (const auto& member : *object) {
      add(member.value());
      extent.bytes += member.key().size() + 3;
    }
  } else if (const json::array* array = value.if_array()) {
    for (const Json& item : *array) add(item);
  } else {
    extent.bytes = value.is_string() ? value.get_string().size() + 2 : 4;
    return extent;
  }
  ++extent.depth;
  extent.bytes += 2;
  return extent;
}

class Patcher {
 public:
  explicit Patcher(Json& document) : document_(document) {}

  Status Apply(const Operation& operation) {
    using Kind = Operation::Kind;
    switch (operation.kind) {
      case Kind::kAdd:
        return Add(operation.path, *operation.value);
      case Kind::kRemove:
        return Take(operation.path).status();
      case Kind::kReplace:
        return Replace(operation.path, *operation.value);
      case Kind::kMove:
        return Move(operation);
      case Kind::kCopy:
        return Copy(operation);
      case Kind::kTest: {
        const Json* found = Find(operation.path, operation.path.size());
        return found != nullptr && Equal(*found, *operation.value) ? absl::OkStatus()
                                                                   : Inapplicable();
      }
    }
    return absl::OkStatus();
  }

 private:
  // What the first `length` tokens lead to; null if it is missing.
  Json* Find(const Path& path, size_t length) {
    Json* at = &document_;
    for (size_t i = 0; i < length && at != nullptr; ++i) at = Child(*at, path[i]);
    return at;
  }

  static Json* Child(Json& parent, const std::string& token) {
    if (json::object* object = parent.if_object()) return object->if_contains(token);
    json::array* array = parent.if_array();
    if (array == nullptr) return nullptr;
    const std::optional<size_t> index = ParseIndex(token, array->size());
    return index ? &(*array)[*index] : nullptr;
  }

  Json* Parent(const Path& path) { return Find(path, path.size() - 1); }

  static Status CheckDepth(const Path& path, const Json& value) {
    if (path.size() + Measure(value).depth <= kMaxJsonDepth) return absl::OkStatus();
    return Malformed(fmt::format(
        "error applying patch: the object would be nested deeper than {} levels", kMaxJsonDepth));
  }

  Status Add(const Path& path, Json value) {
    RETURN_IF_ERROR(CheckDepth(path, value));
    if (path.empty()) {
      document_ = std::move(value);
      return absl::OkStatus();
    }
    Json* parent = Parent(path);
    if (parent == nullptr) return Inapplicable();
    if (json::object* object = parent->if_object()) {
      (*object)[path.back()] = std::move(value);
      return absl::OkStatus();
    }
    json::array* array = parent->if_array();
    if (array == nullptr) return Inapplicable();
    const std::optional<size_t> index =
        path.back() == "-" ? array->size() : ParseIndex(path.back(), array->size() + 1);
    if (!index) return Inapplicable();
    RETURN_IF_ERROR(ChargeShift(array->size() - *index));
    array->insert(array->begin() + *index, std::move(value));
    return absl::OkStatus();
  }

  Status Replace(const Path& path, const Json& value) {
    Json* found = Find(path, path.size());
    if (found == nullptr) {
      const Json* parent = Parent(path);
      if (parent == nullptr || !parent->is_object()) return Inapplicable();
      return Add(path, value);
    }
    RETURN_IF_ERROR(CheckDepth(path, value));
    *found = value;
    return absl::OkStatus();
  }

  // Removes what is there and returns it.
  StatusOr<Json> Take(const Path& path) {
    if (path.empty()) return Inapplicable();
    Json* parent = Parent(path);
    Json* found = parent == nullptr ? nullptr : Child(*parent, path.back());
    if (found == nullptr) return Inapplicable();
    Json taken = std::move(*found);
    if (json::object* object = parent->if_object()) {
      Erase(*object, path.back());
    } else {
      json::array& array = parent->get_array();
      const size_t index = *ParseIndex(path.back(), array.size());
      RETURN_IF_ERROR(ChargeShift(array.size() - index));
      array.erase(array.begin() + index);
    }
    return taken;
  }

  // The order of members means nothing; it is kept where people look at it and where that is cheap.
  static void Erase(json::object& object, const std::string& member) {
    constexpr size_t kFewMembers = 64;
    if (object.size() <= kFewMembers) {
      object.stable_erase(member);
    } else {
      object.erase(member);
    }
  }

  Status Move(const Operation& operation) {
    if (operation.from == operation.path) {
      return Find(operation.from, operation.from.size()) != nullptr ? absl::OkStatus()
                                                                    : Inapplicable();
    }
    ASSIGN_OR_RETURN(Json taken, Take(operation.from));
    RETURN_IF_ERROR(Charge(taken));
    return Add(operation.path, std::move(taken));
  }

  Status Copy(const Operation& operation) {
    const Json* found = Find(operation.from, operation.from.size());
    if (found == nullptr) return Inapplicable();
    RETURN_IF_ERROR(Charge(*found));
    return Add(operation.path, *found);
  }

  Status Charge(const Json& value) {
    transferred_bytes_ += Measure(value).bytes;
    return transferred_bytes_ <= kMaxTransferredBytes ? absl::OkStatus() : Inapplicable();
  }

  Status ChargeShift(size_t items) {
    shifted_items_ += items;
    if (shifted_items_ <= kMaxShiftedItems) return absl::OkStatus();
    return ToStatus(ApiError::Of(
        413, fmt::format("Request entity is too large: the patch moves items of long lists more "
                         "than {} times",
                         kMaxShiftedItems)));
  }

  Json& document_;
  size_t transferred_bytes_ = 0;
  size_t shifted_items_ = 0;
};

}  // namespace

StatusOr<Json> ApplyJsonPatch(Json document, const Json& patch) {
  const json::array* list = patch.if_array();
  if (list == nullptr) return Malformed("error decoding patch: expected a list of operations");
  if (list->size() > kMaxJsonPatchOperations) {
    return ToStatus(ApiError::Of(
        413, fmt::format("Request entity is too large: The allowed maximum operations in a JSON "
                         "patch is {}, got {}",
                         kMaxJsonPatchOperations, list->size())));
  }
  std::vector<Operation> operations;
  operations.reserve(list->size());
  for (const Json& item : *list) {
    ASSIGN_OR_RETURN(Operation operation, ReadOperation(item, operations.size()));
    operations.push_back(std::move(operation));
  }
  Patcher patcher(document);
  for (const Operation& operation : operations) RETURN_IF_ERROR(patcher.Apply(operation));
  return document;
}

}  // namespace koord::kube
