#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "base/string_map.h"
#include "kube/client/client.h"

namespace koord::koordlet {

// Which volumes the claims of the node's pods are bound to. Each claim is asked for by its name
// when somebody wants to know, instead of watching those of the whole cluster from every node: a
// claim that is bound stays so.
class VolumeClaims {
 public:
  VolumeClaims(EventLoop& loop, kube::Client& client) : loop_(loop), client_(client) {}
  ~VolumeClaims() { *alive_ = false; }
  VolumeClaims(const VolumeClaims&) = delete;
  VolumeClaims& operator=(const VolumeClaims&) = delete;

  // "": not known yet, or not bound. It is being asked for, and may be known the next time.
  std::string VolumeOf(std::string_view ns, std::string_view claim);

 private:
  struct Claim {
    std::string volume = {};
    SteadyTime asked{};
    SteadyTime wanted{};
  };

  void Ask(std::string_view ns, std::string_view claim);
  void ForgetUnwanted();

  EventLoop& loop_;
  kube::Client& client_;
  StringMap<Claim> claims_;  // by "namespace/name"
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace koord::koordlet
