#pragma once
#include <absl/functional/any_invocable.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/status.h"
#include "kube/http.h"
#include "kube/resource.h"
#include "localcluster/apiserver/admission/webhooks.h"
#include "localcluster/apiserver/core/options.h"
#include "localcluster/apiserver/registry/registry.h"
#include "localcluster/apiserver/storage/store.h"

namespace koord::apiserver {

// A Kubernetes API server over a Store, for one cluster in this process.
//
// Whoever carries requests (the TLS listener, the in-process transport) has authenticated them:
// requests without a user are refused, apart from health and version. Everything runs on the loop,
// and with a VirtualLoop and the same seed every run is the same.
class ApiServer final : public kube::HttpHandler {
 public:
  using Options = ApiServerOptions;

  // Makes the namespaces, priority classes and service accounts that every cluster has, unless the
  // store holds them already. `store` must outlive the server.
  ApiServer(EventLoop& loop, Store& store, Options options);
  ~ApiServer() override;

  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override;

  // A component's admission hook, called at the point where its webhook would be.
  void RegisterAdmission(InProcessHook hook);

  // Ends all watches; requests that come later are refused.
  void Shutdown();

  // Whether the object exists and, not having been made anew meanwhile, has this uid.
  bool Has(const kube::Resource& resource, const kube::ObjectKey& key, std::string_view uid) const;

  const Registry& registry() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Fills in what selectors look at, for entries that a store reads back from its file
// (Store::Options::index).
void IndexEntry(std::string_view resource, Entry& entry);

}  // namespace koord::apiserver
