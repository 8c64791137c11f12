#include <cstdlib>
#include <deque>
#include <map>
#include <tuple>

#include "base/log.h"
#include "base/string_map.h"
#include "base/strings.h"
#include "kube/schema/builtin_types.h"
#include "kube/schema/type.h"

namespace koord::kube {
namespace {

using schema::GroupSource;

// The text is part of the program: a mistake in it is a defect, found by the first test that runs.
[[noreturn]] void Malformed(std::string_view what, std::string_view where) {
  LOG_ERROR("Malformed table of built-in types", {"what", what}, {"where", where});
  std::abort();
}

struct Message {
  const GroupSource* group;
  bool numbered;
  bool is_kind = false;
  bool defined = false;
  std::string fields = {};
  Type* type = nullptr;
};

// Takes the first blank-separated word off the front of text.
std::string_view TakeWord(std::string_view& text) {
  text = Trim(text);
  const size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

bool TakeSuffix(std::string_view& text, char suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(1);
  return true;
}

class Builder {
 public:
  struct Table {
    std::deque<Type> types;                   // stable addresses
    StringMap<StringMap<const Type*>> kinds;  // by version
    StringMap<const Type*> common_kinds;      // of every version
  };

  explicit Builder(Table& table) : table_(table) {}

  void Build() {
    using namespace schema;
    for (const GroupSource* group :
         {&kMetaTypes, &kCoreTypes, &kCoreVolumeTypes, &kAppsTypes, &kBatchTypes, &kPolicyTypes,
          &kAutoscalingTypes, &kSchedulingTypes, &kCoordinationTypes, &kEventsTypes, &kRbacTypes,
          &kAuthenticationTypes, &kAuthorizationTypes, &kStorageTypes, &kAdmissionTypes,
          &kExtensionTypes, &kMetricsTypes}) {
      Declare(*group, group->messages, true);
      Declare(*group, group->json_messages, false);
    }
    for (Message& message : messages_) Define(message);
    Describe();
    for (Message& message : messages_) {
      if (message.is_kind) AddKind(message);
    }
    for (Type& type : table_.types) {
      if (type.kind == Type::Kind::kStruct) type.BuildIndex();
    }
  }

 private:
  void Declare(const GroupSource& group, std::string_view text, bool numbered) {
    Message* message = nullptr;
    for (const std::string_view line : Split(text, '\n')) {
      if (line.empty()) continue;
      if (line.starts_with(' ')) {
        message->fields += line;
        continue;
      }
      message = &messages_.emplace_back(Message{.group = &group, .numbered = numbered});
      const size_t colon = line.find(": ");
      if (colon == std::string_view::npos) Malformed("no colon", line);
      message->fields = line.substr(colon + 2);
      DeclareHeader(*message, line.substr(0, colon));
    }
  }

  void DeclareHeader(Message& message, std::string_view header) {
    Type& type = NewType(Type::Kind::kStruct);
    message.type = &type;
    for (std::string_view word = TakeWord(header); !word.empty(); word = TakeWord(header)) {
      if (word == "kind") {
        message.is_kind = true;
      } else if (word == "atomic") {
        type.atomic = true;
      } else {
        type.name = word;
      }
    }
    type.openapi_name = std::string(message.group->openapi_prefix) + type.name;
    if (!by_name_.emplace(ScopedName(message.group->api_version, type.name), &message).second) {
      Malformed("declared twice", type.openapi_name);
    }
  }

  void Define(Message& message) {
    if (std::exchange(message.defined, true)) return;
    uint32_t number = 0;
    for (const std::string_view text : Split(message.fields, ',')) {
      Type::Field field;
      bool inlined = false;
      DefineField(message, text, number, field, inlined);
      number = field.number;
      if (!message.numbered) field.number = 0;
      if (inlined) {
        Inline(message, std::move(field));
      } else {
        message.type->fields.push_back(std::move(field));
      }
    }
  }

  void DefineField(const Message& message, std::string_view text, uint32_t previous,
                   Type::Field& field, bool& inlined) {
    std::string_view name = TakeWord(text);
    field.number = previous + 1;
    if (const size_t dot = name.find('.'); dot != std::string_view::npos) {
      field.number = static_cast<uint32_t>(ParseUint(name.substr(0, dot)).value());
      name.remove_prefix(dot + 1);
    }
    inlined = TakeSuffix(name, '^');
    field.name = name;

    std::string_view type_name = "s";
    bool atomic = false;
    for (std::string_view word = TakeWord(text); !word.empty(); word = TakeWord(text)) {
      if (ReadMark(word, field, atomic)) continue;
      if (TakeSuffix(word, '!')) field.required = true;
      if (TakeSuffix(word, '?')) field.presence = true;
      if (!word.empty()) type_name = word;
    }
    if (atomic) {
      field.list_kind = Type::ListKind::kAtomic;
      field.list_keys.clear();
    }
    field.type = Resolve(*message.group, type_name, atomic);
  }

  // How lists and structs merge; false if the word is something else.
  static bool ReadMark(std::string_view word, Type::Field& field, bool& atomic) {
    if (word == "merge") {
      field.patch_merge = true;
      field.list_kind = Type::ListKind::kSet;
    } else if (word.starts_with("merge=")) {
      field.patch_merge = true;
      field.patch_merge_key = word.substr(6);
      field.list_kind = Type::ListKind::kMap;
      field.list_keys = {field.patch_merge_key};
    } else if (word.starts_with("keys=")) {
      field.list_kind = Type::ListKind::kMap;
      field.list_keys.clear();
      for (const std::string_view key : Split(word.substr(5), '+')) {
        field.list_keys.emplace_back(key);
      }
    } else if (word == "set") {
      field.list_kind = Type::ListKind::kSet;
    } else if (word == "atomic") {
      atomic = true;
    } else if (word == "retain") {
      field.patch_retain_keys = true;
    } else if (word == "replace") {
      field.patch_replace = true;
    } else {
      return false;
    }
    return true;
  }

  void Inline(Message& parent, Type::Field field) {
    Message& embedded = Lookup(*parent.group, field.type->name);
    Define(embedded);
    for (Type::Field member : embedded.type->fields) {
      member.number = 0;  // it has one in the embedded message only
      parent.type->fields.push_back(std::move(member));
    }
    parent.type->inlined.push_back(std::move(field));
  }

  const Type* Resolve(const GroupSource& group, std::string_view name, bool atomic = false) {
    using Kind = Type::Kind;
    static const StringMap<Kind> kScalars = {
        {"s", Kind::kString},
        {"i", Kind::kInteger},
        {"f", Kind::kNumber},
        {"b", Kind::kBoolean},
        {"y", Kind::kBytes},
        {"any", Kind::kAny},
        {"Quantity", Kind::kQuantity},
        {"Time", Kind::kTime},
        {"MicroTime", Kind::kMicroTime},
        {"Duration", Kind::kDuration},
        {"IntOrString", Kind::kIntOrString},
        {"RawExtension", Kind::kAny},
        {"FieldsV1", Kind::kAny},
    };
    if (name.starts_with('[') && name.ends_with(']')) {
      return Shared(Kind::kList, Resolve(group, name.substr(1, name.size() - 2)), atomic);
    }
    if (name.starts_with("map:")) {
      return Shared(Kind::kMap, Resolve(group, name.substr(4)), atomic);
    }
    if (name == "ExtraValue") return Shared(Kind::kList, Shared(Kind::kString, nullptr), false);
    if (const auto it = kScalars.find(name); it != kScalars.end()) {
      return Shared(it->second, nullptr);
    }
    return Lookup(group, name).type;
  }

  Message& Lookup(const GroupSource& group, std::string_view name) {
    for (const std::string_view version :
         {group.api_version, std::string_view("v1"), schema::kMetaTypes.api_version}) {
      const auto it = by_name_.find(ScopedName(version, name));
      if (it != by_name_.end()) return *it->second;
    }
    Malformed("unknown type", name);
  }

  const Type* Shared(Type::Kind kind, const Type* element, bool atomic = false) {
    const Type*& type = shared_[{kind, element, atomic}];
    if (type == nullptr) {
      Type& made = NewType(kind);
      made.element = element;
      made.atomic = atomic;
      type = &made;
    }
    return type;
  }

  void AddKind(Message& message) {
    Type& type = *message.type;
    AddTypeMeta(type);
    if (message.group == &schema::kMetaTypes) {
      table_.common_kinds.emplace(type.name, &type);
      return;
    }
    Type& list = NewType(Type::Kind::kStruct);
    list.name = type.name + "List";
    list.openapi_name = type.openapi_name + "List";
    list.description = fmt::format("A collection of {} objects.", type.name);
    list.fields.resize(2);
    list.fields[0].name = "metadata";
    list.fields[0].type = Lookup(*message.group, "ListMeta").type;
    list.fields[1].name = "items";
    list.fields[1].type = Shared(Type::Kind::kList, &type);
    list.fields[1].required = true;
    if (message.numbered) {
      list.fields[0].number = 1;
      list.fields[1].number = 2;
    }
    AddTypeMeta(list);
    auto& kinds = table_.kinds[std::string(message.group->api_version)];
    kinds.emplace(type.name, &type);
    kinds.emplace(list.name, &list);
  }

  void AddTypeMeta(Type& type) {
    Type::Field api_version;
    api_version.name = "apiVersion";
    api_version.type = Shared(Type::Kind::kString, nullptr);
    api_version.description = "The group and version that this object is written in.";
    Type::Field kind = api_version;
    kind.name = "kind";
    kind.description = "What this object is.";
    type.fields.insert(type.fields.begin(), {std::move(api_version), std::move(kind)});
  }

  void Describe() {
    for (const std::string_view line : Split(schema::kDescriptions, '\n')) {
      if (line.empty()) continue;
      const size_t colon = line.find(": ");
      std::string_view subject = line.substr(0, colon);
      const std::string_view version = TakeWord(subject);
      subject = Trim(subject);
      const size_t dot = std::min(subject.find('.'), subject.size());
      const auto it = by_name_.find(ScopedName(version, subject.substr(0, dot)));
      if (it == by_name_.end()) Malformed("describes an unknown type", line);
      std::string& description = dot == subject.size()
                                     ? it->second->type->description
                                     : FieldNamed(*it->second->type, subject.substr(dot + 1));
      description = line.substr(colon + 2);
    }
  }

  static std::string& FieldNamed(Type& type, std::string_view name) {
    for (Type::Field& field : type.fields) {
      if (field.name == name) return field.description;
    }
    Malformed("describes an unknown field", name);
  }

  Type& NewType(Type::Kind kind) {
    Type& type = table_.types.emplace_back();
    type.kind = kind;
    return type;
  }

  static std::string ScopedName(std::string_view version, std::string_view name) {
    return fmt::format("{} {}", version, name);
  }

  Table& table_;
  std::deque<Message> messages_;
  StringMap<Message*> by_name_;  // "apps/v1 DeploymentSpec"
  std::map<std::tuple<Type::Kind, const Type*, bool>, const Type*> shared_;
};

const Builder::Table& BuiltinTable() {
  static const Builder::Table* const table = [] {
    auto* made = new Builder::Table;
    Builder(*made).Build();
    return made;
  }();
  return *table;
}

}  // namespace

const Type* FindBuiltinType(std::string_view api_version, std::string_view kind) {
  const Builder::Table& table = BuiltinTable();
  if (const auto version = table.kinds.find(api_version); version != table.kinds.end()) {
    if (const auto it = version->second.find(kind); it != version->second.end()) return it->second;
  }
  const auto it = table.common_kinds.find(kind);
  return it == table.common_kinds.end() ? nullptr : it->second;
}

}  // namespace koord::kube
