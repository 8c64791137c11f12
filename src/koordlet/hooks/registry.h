#pragma once
#include <memory>
#include <vector>

#include "koordlet/hooks/engine/hook_plugin.h"

namespace koord::koordlet::hooks {

class NetworkControl;
class TerwayFiles;

// What only some plugins work with; null where the node cannot do it.
struct HookTools {
  NetworkControl* network = nullptr;
  TerwayFiles* terway = nullptr;
};

// The plugins whose feature gates are on.
std::vector<std::unique_ptr<HookPlugin>> MakePlugins(const HookEnv& env, const HookTools& tools);

}  // namespace koord::koordlet::hooks
