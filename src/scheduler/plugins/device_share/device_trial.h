#pragma once
#include <optional>
#include <vector>

#include "scheduler/books/device_book.h"
#include "scheduler/framework/hint_provider.h"
#include "scheduler/plugins/device_share/pod_devices.h"

namespace koord::scheduler {

// What a node says of its cards.
struct NodeCards {
  model::GpuNode gpu;
  std::string isolation_provider;
  bool refuses_shares = false;  // its kind of cards cannot be shared
};

// Which devices a pod would get on one node as it is or would be, from one source.
class DeviceTrial final : public HintTrial {
 public:
  struct Rules {
    const model::DeviceScoring& scoring;
    bool aligns = true;  // NUMA nodes matter
  };

  // `question.view.delta` may be null; the pod, the node and the rules outlive the trial.
  DeviceTrial(const PodDevices& pod, const NodeCards& node, const DeviceBook& book,
              const Rules& rules, const TrialQuestion& question);

  Answer Hints(model::NumaPolicy policy, model::NumaMask all) const override;
  Verdict Allocate(const std::optional<model::NumaMask>& from, Holdings* into) const override;

  // Nobody knows of devices there: what the pod asks for is for others to give.
  bool nothing_known() const { return devices().empty(); }
  // With `for_real` the devices that rate best, and what is left out before then.
  model::DeviceResult Run(const std::optional<model::NumaMask>& from, bool for_real) const;
  const model::NodeDevices& devices() const { return changed_ ? *changed_ : as_they_are_; }

 private:
  model::DeviceLimits LimitsFor(const std::optional<model::NumaMask>& from) const;

  const PodDevices& pod_;
  const NodeCards& node_;
  const DeviceBook& book_;
  const Rules rules_;
  const model::NodeDevices& as_they_are_;
  std::optional<model::NodeDevices> changed_;
  const PodInfo* const reserve_pod_;  // of the source, if it holds devices
  const bool is_restricted_;
  std::vector<DeviceBook::Left> left_;  // of that
};

// What is given of one device, completed: of cards, memory and share. False: there is no such card.
bool Complete(const model::NodeDevices& devices, model::DeviceGrants& grants);
// As holdings have it.
std::vector<Holdings::Device> ToHoldings(const model::DeviceGrants& grants,
                                         const DeviceResourceIds& ids);
Verdict VerdictOf(const model::DeviceResult& result);

}  // namespace koord::scheduler
