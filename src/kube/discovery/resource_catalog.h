#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"
#include "base/status.h"
#include "kube/client/client.h"
#include "kube/informer/informer.h"
#include "kube/objects/metadata_only.h"
#include "kube/resource.h"

namespace koord::kube {

struct CatalogEntry {
  Resource resource;
  std::vector<std::string> verbs;
  bool preferred = false;  // of the version that its group prefers

  bool Can(std::string_view verb) const;
};

// All resources that a server's discovery documents list, subresources left out.
StatusOr<std::vector<CatalogEntry>> ReadResourceList(std::string_view body, bool preferred);

// Which kinds of objects the cluster has at present, custom ones included. Asked for once, and
// again when a CustomResourceDefinition comes, changes or goes: never on a timer.
class ResourceCatalog {
 public:
  ResourceCatalog(Client& client, uint64_t seed);
  ~ResourceCatalog();

  void Start();
  void Stop();
  bool known() const { return known_; }
  const std::vector<CatalogEntry>& entries() const { return entries_; }
  // The resource of a kind in any served version; null if there is none.
  const CatalogEntry* FindKind(std::string_view api_version, std::string_view kind) const;

  // Runs after every change, and at once if the catalog is known.
  void OnChange(std::function<void()> callback);

 private:
  class Discovery;

  void Refresh();
  void Finished(StatusOr<std::vector<CatalogEntry>> entries);

  Client& client_;
  Informer<MetadataOnly> definitions_;
  std::vector<CatalogEntry> entries_;
  std::vector<std::function<void()>> callbacks_;
  std::shared_ptr<Discovery> running_;
  bool known_ = false;
  bool again_ = false;
  Timer timer_;
  Scope scope_;
};

}  // namespace koord::kube
