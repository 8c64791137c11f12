#include "koordlet/hooks/engine/sched_switches.h"

#include "base/strings.h"

namespace koord::koordlet::hooks {
namespace {

Status Write(const HookEnv& env, std::string_view path, const std::string& value) {
  Update update{FileTarget{FileTarget::Tree::kProc, std::string(path)}, value, {}};
  update.about.type = AuditEvent::Type::kNode;
  update.about.level = 3;
  update.about.reason = "RuntimeHook";
  return env.executor.ApplyNow(update).status();
}

}  // namespace

std::string ReadSwitch(const Host& host, std::string_view path) {
  const auto text = host.proc().Read(path);
  return text.ok() ? std::string(Trim(*text)) : std::string();
}

Status SetSwitch(const HookEnv& env, std::string_view owner, std::string_view path, bool on) {
  env.undo.Hold(path, owner, ReadSwitch(env.host, path));
  return Write(env, path, on ? "1" : "0");
}

void PutBackSwitch(const HookEnv& env, std::string_view owner, std::string_view path) {
  env.undo.Release(path, owner, [&](const std::string& before) {
    const Status written = Write(env, path, before);
    if (!written.ok()) env.problems.Report({.object = "node", .kind = owner}, written);
    return written.ok();
  });
}

}  // namespace koord::koordlet::hooks
