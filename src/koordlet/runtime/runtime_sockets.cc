#include "koordlet/runtime/runtime_sockets.h"

namespace koord::koordlet {
namespace {

struct UsualPlace {
  std::string_view runtime;
  std::string_view socket;
};
constexpr UsualPlace kUsualPlaces[] = {
    {"docker", "docker.sock"},         {"containerd", "containerd/containerd.sock"},
    {"containerd", "containerd.sock"}, {"pouch", "pouchcri.sock"},
    {"cri-o", "crio/crio.sock"},       {"cri-o", "crio.sock"},
};

}  // namespace

std::optional<std::string> FindRuntimeSocket(const FileTree& var_run, std::string_view runtime) {
  for (const UsualPlace& place : kUsualPlaces) {
    if (place.runtime == runtime && var_run.Exists(place.socket)) return std::string(place.socket);
  }
  return std::nullopt;
}

}  // namespace koord::koordlet
