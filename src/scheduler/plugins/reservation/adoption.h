#pragma once
#include <memory>
#include <vector>

#include "base/scope.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Makes running pods owners of a reservation that is placed over them: each says so before the
// reservation is bound. If that comes to nothing they say so no more.
class Adoption {
 public:
  using Pods = std::vector<std::shared_ptr<const kube::Pod>>;

  explicit Adoption(const PluginContext& context) : context_(context) {}

  // Fails if one of the pods is gone by now.
  void Adopt(const Pods& pods, const Holdings::Reservation& reservation, VerdictDone done);
  // Those that say they belong to it.
  void Release(const Pods& pods, const Holdings::Reservation& reservation);

 private:
  const PluginContext context_;
  Scope scope_;
};

}  // namespace koord::scheduler
