#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "kube/client/client.h"
#include "kube/client/event_recorder.h"
#include "kube/objects/pod.h"

namespace koord::scheduler {

// Evicts the victims of a preemption: says on each why it goes, then deletes it, with its own grace
// period and by its uid.
class Evictor {
 public:
  Evictor(kube::Client& client, kube::EventRecorder& recorder);

  // `done` runs when the API server has answered for all of them, whatever it said.
  void Evict(const kube::Pod& preemptor, const std::string& node,
             const std::vector<std::shared_ptr<const kube::Pod>>& victims,
             const std::string& scheduler_name, Task done);

 private:
  void MarkAndDelete(const kube::Pod& victim, const std::string& scheduler_name, Task done);
  void Delete(const kube::Pod& victim, Task done);

  kube::Client& client_;
  kube::EventRecorder& recorder_;
};

}  // namespace koord::scheduler
