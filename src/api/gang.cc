#include "api/gang.h"

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "base/strings.h"

namespace koord::api {
namespace {

std::string_view FirstNonEmpty(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) {
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace

using kube::Annotations;
using kube::ValueOf;

std::string_view GangNameOf(const kube::ObjectMeta& pod) {
  return FirstNonEmpty({ValueOf(pod.labels, kLabelPodGroup),
                        ValueOf(pod.labels, kLabelPodGroupName),
                        ValueOf(pod.annotations, kAnnotationGangName)});
}

StatusOr<std::vector<std::string>> GangGroupsOf(const Annotations& annotations) {
  ASSIGN_OR_RETURN(std::optional<std::vector<std::string>> groups,
                   ReadAnnotation<std::vector<std::string>>(annotations, kAnnotationGangGroups));
  return groups ? *std::move(groups) : std::vector<std::string>();
}

std::string_view GangMatchPolicyOf(const Annotations& annotations) {
  return FirstNonEmpty({ValueOf(annotations, kAnnotationGangMatchPolicy),
                        ValueOf(annotations, kAnnotationPodGroupMatchPolicy)});
}

StatusOr<std::optional<NetworkTopologySpec>> NetworkTopologySpecOf(const Annotations& annotations) {
  return ReadNonEmptyAnnotation<NetworkTopologySpec>(annotations,
                                                     kAnnotationGangNetworkTopologySpec);
}

int64_t NetworkTopologyIndexOf(const Annotations& annotations) {
  return ParseInt(ValueOf(annotations, kAnnotationGangNetworkTopologyIndex)).value_or(-1);
}

bool ComesBeforeInTopology(const kube::ObjectMeta& a, const kube::ObjectMeta& b) {
  const int64_t rank_a = NetworkTopologyIndexOf(a.annotations);
  const int64_t rank_b = NetworkTopologyIndexOf(b.annotations);
  if ((rank_a >= 0) != (rank_b >= 0)) return rank_a >= 0;
  if (rank_a >= 0 && rank_a != rank_b) return rank_a < rank_b;
  return a.name < b.name;
}

}  // namespace koord::api
