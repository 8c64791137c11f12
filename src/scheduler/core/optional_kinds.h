#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/controller/informer_set.h"

namespace koord::scheduler {

// Watches kinds of objects whose definitions need not be installed.
//
// One that the server does not have, or does not let us list, counts as empty; that is said once,
// and it is looked for again. Whoever waits until all is known does not wait for it.
class OptionalKinds {
 public:
  static constexpr Duration kLookAgain = 30s;

  OptionalKinds(kube::Client& client, kube::InformerSet::Options informers)
      : client_(client), informers_(client, informers) {}

  // Before Start. `which`: the objects, if not all.
  template <class T>
  void Watch(const kube::Resource& resource,
             std::function<void(const std::shared_ptr<const T>& before,
                                const std::shared_ptr<const T>& after)>
                 handler,
             const kube::InformerOptions& which = {}) {
    kinds_.push_back(
        std::make_unique<Kind>(client_.loop(), resource, which,
                               [this, resource, which, handler = std::move(handler)](Kind& kind) {
                                 kube::Informer<T>& informer = informers_.Use<T>(resource, which);
                                 informer.AddHandler(handler);
                                 kind.relist = [&informer](std::function<void()> done) {
                                   informer.Relist(std::move(done));
                                 };
                               }));
  }

  void Start();
  void Stop();
  // Of each it is known what there is, or that it is not installed.
  bool known() const;
  void WhenKnown(std::function<void()> callback);
  // Runs `callback` once all objects of a kind that there were before this call are shown; at once
  // if nobody watches the kind. One that was not there is looked for again.
  void Refresh(const kube::Resource& resource, std::function<void()> callback);
  // Those that are not there, a sentence each.
  std::vector<std::string> absences() const;

 private:
  struct Kind {
    Kind(EventLoop& loop, kube::Resource resource, kube::InformerOptions which,
         std::function<void(Kind&)> use)
        : resource(std::move(resource)),
          which(std::move(which)),
          use(std::move(use)),
          timer(loop) {}

    const kube::Resource resource;
    const kube::InformerOptions which;
    const std::function<void(Kind&)> use;
    std::function<void(std::function<void()>)> relist;  // once it is there
    enum class State : uint8_t { kUnknown, kAbsent, kThere } state = State::kUnknown;
    std::string absence;  // why it counts as empty
    Timer timer;
  };

  void Look(Kind& kind);
  void OnSeen(Kind& kind, const Status& answer);
  void LookAgain(Kind& kind, Duration pause);
  void TellKnown();

  kube::Client& client_;
  kube::InformerSet informers_;
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::vector<std::function<void()>> when_known_;
  bool running_ = false;
  Scope scope_;
};

}  // namespace koord::scheduler
