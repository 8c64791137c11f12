#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/selectors.h"
#include "localcluster/apiserver/core/request.h"
#include "localcluster/apiserver/storage/store.h"

namespace koord::apiserver {

// Which objects of a resource a list, watch or deletecollection is about.
class Selection {
 public:
  // From labelSelector, fieldSelector and, for a watch of one object, the name in the path.
  static StatusOr<Selection> Of(const Request& request);

  bool Matches(const Entry& entry) const;
  // True if every object is meant: then a page can tell how many are left.
  bool everything() const { return labels_.empty() && fields_.empty(); }

 private:
  // One requirement on a field, resolved to where entries keep it.
  struct Field {
    // Fields that custom resources declare are looked up in the document: entries that come back
    // from disk are indexed before their definition is known.
    enum class Source { kName, kNamespace, kIndex, kDocument };
    Source source = Source::kIndex;
    SelectableField known;
    std::string value;
    bool equal = true;
  };

  static StatusOr<Field> Resolve(const ResourceInfo& info,
                                 const kube::FieldMatcher::Requirement& requirement);
  static bool HasValue(const Field& field, const Entry& entry);

  kube::LabelMatcher labels_;
  std::vector<Field> fields_;
};

}  // namespace koord::apiserver
