#include "koordlet/hooks/engine/sched_switches.h"

#include "base/strings.h"

namespace koord::koordlet::hooks {

std::string ReadSwitch(const Host& host, std::string_view path) {
  const auto text = host.proc().Read(path);
  return text.ok() ? std::string(Trim(*text)) : std::string();
}

Status SetSwitch(const HookEnv& env, std::string_view path, bool on) {
  Update update{FileTarget{FileTarget::Tree::kProc, std::string(path)}, on ? "1" : "0", {}};
  update.about.type = AuditEvent::Type::kNode;
  update.about.level = 3;
  update.about.reason = "RuntimeHook";
  return env.executor.ApplyNow(update).status();
}

}  // namespace koord::koordlet::hooks
