#pragma once
#include <absl/container/btree_map.h>

#include <string>
#include <string_view>

#include "base/string_map.h"
#include "kube/resource.h"

namespace koord::scheduler {

// What claims were promised by pods that are on their way to a node, before the API server shows
// it.
class AssumedVolumes {
 public:
  void Bind(std::string_view volume, const kube::ObjectKey& claim) {
    claims_.insert_or_assign(std::string(volume), claim);
    ++version_;
  }
  void Select(const kube::ObjectKey& claim, std::string_view node) {
    nodes_.insert_or_assign(claim, std::string(node));
    ++version_;
  }
  void Unbind(std::string_view volume) { version_ += claims_.erase(volume); }
  void Unselect(const kube::ObjectKey& claim) { version_ += nodes_.erase(claim); }

  // The claim that a volume was promised to, the node that a claim is to be provisioned for; null
  // if none.
  const kube::ObjectKey* ClaimOf(std::string_view volume) const {
    const auto found = claims_.find(volume);
    return found == claims_.end() ? nullptr : &found->second;
  }
  const std::string* NodeOf(const kube::ObjectKey& claim) const {
    const auto found = nodes_.find(claim);
    return found == nodes_.end() ? nullptr : &found->second;
  }
  uint64_t version() const { return version_; }  // moves with every change

 private:
  StringMap<kube::ObjectKey> claims_;  // by volume
  absl::btree_map<kube::ObjectKey, std::string> nodes_;
  uint64_t version_ = 1;
};

}  // namespace koord::scheduler
