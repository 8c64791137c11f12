#include "api/unsupported.h"

#include <fmt/format.h>

#include <array>

#include "api/keys.h"

namespace koord::api {
namespace {

constexpr std::string_view kGangs = "pods are placed one by one, not as a gang";
constexpr std::string_view kMigration = "pods are not migrated";

struct Key {
  std::string_view name;
  std::string_view instead;  // what happens
};

constexpr std::array kLabels{
    Key{kLabelPodGroup, kGangs},
    Key{kLabelPodGroupName, kGangs},
    Key{kLabelPodGroupMinAvailable, kGangs},
};

constexpr std::array kAnnotations{
    Key{kAnnotationGangName, kGangs},
};

std::string Sentence(std::string_view what, const Key& key) {
  return fmt::format("{} {} has no effect in this version: {}", what, key.name, key.instead);
}

}  // namespace

std::vector<std::string> UnsupportedRequestsOf(const kube::Pod& pod) {
  std::vector<std::string> sentences;
  for (const Key& key : kLabels) {
    if (pod.metadata.labels.contains(key.name)) sentences.push_back(Sentence("label", key));
  }
  for (const Key& key : kAnnotations) {
    if (pod.metadata.annotations.contains(key.name)) {
      sentences.push_back(Sentence("annotation", key));
    }
  }
  return sentences;
}

std::optional<std::string> UnsupportedKind(std::string_view group, std::string_view kind) {
  struct Kind {
    std::string_view group;
    std::string_view kind;
    std::string_view instead;
  };
  constexpr std::array kKinds{
      Kind{"scheduling.sigs.k8s.io", "PodGroup", kGangs},
      Kind{"scheduling.koordinator.sh", "PodMigrationJob", kMigration},
      Kind{"scheduling.koordinator.sh", "ClusterNetworkTopology", kGangs},
      Kind{"descheduler", "DeschedulerConfiguration", kMigration},
  };
  for (const Kind& known : kKinds) {
    if (known.group != group || known.kind != kind) continue;
    return fmt::format("{} is accepted but has no effect in this version: {}", kind, known.instead);
  }
  return std::nullopt;
}

}  // namespace koord::api
