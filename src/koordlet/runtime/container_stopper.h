#pragma once
#include <absl/functional/any_invocable.h>

#include <string_view>

#include "base/clock.h"
#include "base/status.h"

namespace koord::koordlet {

// Ends containers without asking the API server.
class ContainerStopper {
 public:
  using Done = absl::AnyInvocable<void(Status)>;

  virtual ~ContainerStopper() = default;
  // `container_id` as pods' statuses have it: "containerd://1a2b". It is killed when it has not
  // ended by itself after `grace`. `done` runs on the loop, never inside this call, and not at all
  // once the stopper is gone.
  virtual void Stop(std::string_view container_id, Duration grace, Done done) = 0;
};

}  // namespace koord::koordlet
