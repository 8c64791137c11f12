#include "scheduler/topology/pod_selector.h"

#include <absl/hash/hash.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace koord::scheduler {
namespace {

using Requirement = kube::LabelMatcher::Requirement;

StatusOr<std::optional<kube::LabelMatcher>> MatcherOf(
    const std::optional<kube::LabelSelector>& selector) {
  if (!selector) return std::optional<kube::LabelMatcher>();
  ASSIGN_OR_RETURN(kube::LabelMatcher matcher, kube::LabelMatcher::From(*selector));
  return std::optional<kube::LabelMatcher>(std::move(matcher));
}

const kube::Labels& LabelsOf(const std::string& ns, const NamespaceCache& namespaces) {
  static const kube::Shared<kube::Labels> kNone;
  const kube::Namespace* found = namespaces.Find(ns);
  return found == nullptr ? kNone : found->metadata.labels;
}

// The one value that a label must have.
const std::string* RequiredValue(const Requirement& requirement) {
  using Operator = kube::LabelMatcher::Operator;
  const bool equals = requirement.op == Operator::kEquals ||
                      requirement.op == Operator::kDoubleEquals || requirement.op == Operator::kIn;
  return equals && requirement.values.size() == 1 ? &requirement.values.front() : nullptr;
}

// Two ways to write the same are the same text where it is easy to tell.
std::string TextOf(const std::optional<kube::LabelMatcher>& matcher) {
  if (!matcher) return "none";
  std::vector<std::string> parts;
  for (const Requirement& each : matcher->requirements()) {
    const std::string* value = RequiredValue(each);
    parts.push_back(value != nullptr ? fmt::format("{}={}", each.key, *value) : each.ToString());
  }
  std::ranges::sort(parts);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return fmt::format("[{}]", fmt::join(parts, ","));
}

}  // namespace

PodSelector::PodSelector(std::vector<std::string> namespaces,
                         std::optional<kube::LabelMatcher> namespace_labels,
                         std::optional<kube::LabelMatcher> labels)
    : namespaces_(std::move(namespaces)),
      namespace_labels_(std::move(namespace_labels)),
      labels_(std::move(labels)) {
  std::ranges::sort(namespaces_);
  namespaces_.erase(std::unique(namespaces_.begin(), namespaces_.end()), namespaces_.end());
  key_ = fmt::format("{} in {} {}", TextOf(labels_), fmt::join(namespaces_, ","),
                     TextOf(namespace_labels_));
}

PodSelector::PodSelector(std::string ns, std::optional<kube::LabelMatcher> labels)
    : PodSelector(std::vector<std::string>{std::move(ns)}, std::nullopt, std::move(labels)) {}

StatusOr<PodSelector> PodSelector::Of(const kube::PodAffinityTerm& term,
                                      const std::string& owner_namespace) {
  ASSIGN_OR_RETURN(std::optional<kube::LabelMatcher> labels, MatcherOf(term.label_selector));
  ASSIGN_OR_RETURN(std::optional<kube::LabelMatcher> namespace_labels,
                   MatcherOf(term.namespace_selector));
  std::vector<std::string> namespaces = term.namespaces;
  if (namespaces.empty() && !namespace_labels) namespaces.push_back(owner_namespace);
  return PodSelector(std::move(namespaces), std::move(namespace_labels), std::move(labels));
}

bool PodSelector::Matches(const std::string& ns, const kube::Labels& labels,
                          const NamespaceCache& namespaces) const {
  if (!labels_ || !labels_->Matches(labels)) return false;
  if (std::ranges::binary_search(namespaces_, ns)) return true;
  return namespace_labels_ &&
         (namespace_labels_->empty() || namespace_labels_->Matches(LabelsOf(ns, namespaces)));
}

std::pair<std::string_view, std::string_view> PodSelector::RequiredLabel() const {
  for (const Requirement& each : labels_->requirements()) {
    if (const std::string* value = RequiredValue(each)) return {each.key, *value};
  }
  return {};
}

LabelPlaceId LabelPlace(std::string_view ns, std::string_view key, std::string_view value) {
  const std::hash<std::string_view> hash;
  return absl::HashOf(hash(ns), hash(key), hash(value));
}

}  // namespace koord::scheduler
