#include "scheduler/config/plugin_args.h"

#include <array>

#include "base/strings.h"
#include "scheduler/config/api_version.h"

namespace koord::scheduler {
namespace {

using kube::ConfigField;
using kube::Json;
namespace json = kube::json;

template <class Args>
Args ReadTyped(const Json& written, const ConfigField& at) {
  Args args;
  kube::DecodeStrict(written, args, at);
  if constexpr (requires { args.SetDefaults(); }) args.SetDefaults();
  if constexpr (requires { args.Check(at); }) args.Check(at);
  return args;
}

// Runs `visit` with a null pointer of the type that a plugin's arguments have, if they have one.
template <class Visit, class... Args>
void VisitType(std::string_view plugin, const Visit& visit, const std::variant<Json, Args...>*) {
  (void)((plugin == Args::kPlugin && (visit(static_cast<Args*>(nullptr)), true)) || ...);
}

template <class Visit>
void VisitTypeOf(std::string_view plugin, const Visit& visit) {
  VisitType(plugin, visit, static_cast<const PluginArgs*>(nullptr));
}

std::string KindOf(std::string_view plugin) { return fmt::format("{}Args", plugin); }

void CheckTypeMeta(std::string_view plugin, const json::object& args, const ConfigField& at) {
  const auto check = [&](std::string_view name, std::span<const std::string_view> allowed) {
    const Json* value = args.if_contains(name);
    if (value == nullptr || value->is_null()) return;
    std::string text;
    kube::DecodeStrict(*value, text, at.Member(name));
    if (value->is_string()) at.Member(name).CheckOneOf(text, allowed);
  };
  const std::string kind = KindOf(plugin);
  const std::string_view kinds[] = {kind};
  check("apiVersion", kAcceptedApiVersions);
  check("kind", kinds);
}

}  // namespace

std::optional<PluginArgs> DefaultArgsOf(std::string_view plugin) {
  std::optional<PluginArgs> args;
  VisitTypeOf(plugin, [&]<class Args>(Args*) { args = DefaultArgs<Args>(); });
  return args;
}

PluginArgs ReadPluginArgs(std::string_view plugin, const Json& written, const ConfigField& at) {
  if (!written.is_null() && !written.is_object()) {
    at.Error("expected an object");
    return Json(nullptr);
  }
  PluginArgs args = written;
  Json fields = written;
  if (json::object* object = fields.if_object()) {
    CheckTypeMeta(plugin, *object, at);
    object->erase("apiVersion");
    object->erase("kind");
  }
  VisitTypeOf(plugin, [&]<class Args>(Args*) { args = ReadTyped<Args>(fields, at); });
  return args;
}

}  // namespace koord::scheduler

namespace koord::kube {

using scheduler::PluginArgs;

Status Codec<PluginArgs>::Read(JsonView in, PluginArgs& out) {
  out = in.Copy();
  return absl::OkStatus();
}

Json Codec<PluginArgs>::Write(const PluginArgs& args) {
  return std::visit(
      []<class Args>(const Args& typed) -> Json {
        if constexpr (std::is_same_v<Args, Json>) {
          return typed;
        } else {
          json::object object{{"apiVersion", scheduler::kConfigApiVersion},
                              {"kind", scheduler::KindOf(Args::kPlugin)}};
          Json fields = Encode(typed);
          for (auto& [name, value] : fields.as_object()) object.emplace(name, std::move(value));
          return object;
        }
      },
      args);
}

}  // namespace koord::kube
