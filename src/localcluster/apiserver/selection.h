#pragma once
#include <string>
#include <string_view>

#include "base/status.h"
#include "kube/selector.h"
#include "localcluster/apiserver/core.h"
#include "localcluster/apiserver/request.h"
#include "localcluster/apiserver/storage/store.h"

namespace koord::apiserver {

// Which objects of a resource a list, watch or deletecollection is about.
class Selection {
 public:
  // From labelSelector, fieldSelector and, for a watch of one object, the name in the path.
  static StatusOr<Selection> Of(const Core& core, const Request& request);

  bool Matches(const Entry& entry) const;
  // True if every object is meant: then a page can tell how many are left.
  bool everything() const { return labels_.empty() && fields_.empty(); }

 private:
  std::string_view FieldOf(const Entry& entry, std::string_view field) const;

  ResourceInfoPtr info_;
  kube::LabelQuery labels_;
  kube::FieldQuery fields_;
};

}  // namespace koord::apiserver
