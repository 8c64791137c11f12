#include "manager/webhook/pod/enhanced_validation.h"

#include <algorithm>
#include <utility>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "base/log.h"
#include "base/strings.h"

namespace koord::manager::webhook {

void EnhancedValidator::Load(const kube::ConfigMap* config) {
  if (config == nullptr) {
    enabled_ = false;
    rules_.clear();
    return;
  }
  const bool enabled = EqualsIgnoreCase(Trim(kube::ValueOf(config->data, "enable")), "true");
  const std::string_view text = kube::ValueOf(config->data, "rules");
  std::vector<Rule> rules;
  if (!text.empty()) {
    auto parsed = api::DecodeLoose<std::vector<Rule>>(text);
    if (!parsed.ok()) {
      LOG_ERROR("Enhanced validation keeps its old rules", {"config", config->metadata.name},
                {"err", parsed.status()});
      return;
    }
    rules = *std::move(parsed);
  }
  enabled_ = enabled;
  rules_ = std::move(rules);
}

Status EnhancedValidator::Check(const kube::Pod& pod, std::string_view ns,
                                const std::shared_ptr<const kube::ConfigMap>& config) {
  if (config != loaded_) {
    loaded_ = config;
    Load(config.get());
  }
  if (!enabled_) return absl::OkStatus();
  if (kube::ValueOf(pod.metadata.labels, api::kLabelSkipEnhancedValidation) == "true") {
    return absl::OkStatus();
  }
  for (const Rule& rule : rules_) {
    if (std::ranges::find(rule.namespace_whitelist, ns) != rule.namespace_whitelist.end()) {
      continue;
    }
    std::vector<std::string_view> missing;
    for (const std::string& label : rule.required_labels) {
      if (!pod.metadata.labels.contains(label)) missing.push_back(label);
    }
    if (missing.size() == 1) {
      return InvalidArgument("required label '{}' is missing", missing[0]);
    }
    if (!missing.empty()) {
      return InvalidArgument("required labels are missing: [{}]", Join(missing, " "));
    }
  }
  return absl::OkStatus();
}

}  // namespace koord::manager::webhook
