#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/string_map.h"
#include "koordlet/hooks/engine/expiring_series.h"
#include "koordlet/hooks/engine/hook_plugin.h"

namespace koord::koordlet::hooks {

// What the kubelet sets for the processes of a container. None: the node's memory is not known.
std::optional<int32_t> KubeletOomScore(const kube::Pod& pod, kube::PodQos qos,
                                       const kube::Container& container,
                                       std::optional<int64_t> node_memory);

// Sets how soon the kernel kills the processes of a container when memory runs out, as the pod's
// annotations say.
//
// Not sooner than the kubelet's value for the pod's class allows: a pod may offer itself, but not
// hide behind others. When the annotation goes away, the kubelet's value comes back. Sandboxes are
// never touched.
class OomScore final : public HookPlugin {
 public:
  explicit OomScore(const HookEnv& env);

  std::string_view name() const override { return "OOMScoreAdj"; }
  void OnPass(std::span<const ReconciledPod> pods) override;

 private:
  struct Wish {
    std::shared_ptr<const kube::Pod> of;
    std::map<std::string, int32_t, std::less<>> scores;  // by container
  };

  const Wish& WishOf(const ReconciledPod& pod);
  std::optional<int32_t> Allowed(const HookPod& pod, std::string_view container,
                                 int32_t wanted) const;
  std::optional<int32_t> KubeletScore(const HookPod& pod, std::string_view container) const;
  void Apply(const HookContainer& container, int32_t score);

  const HookEnv& env_;
  StringMap<Wish> wishes_;  // by uid
  StringSet adjusted_;      // directories of containers that have another value than the kubelet's
  ExpiringSeries<metrics::Gauge> scores_;
};

}  // namespace koord::koordlet::hooks
