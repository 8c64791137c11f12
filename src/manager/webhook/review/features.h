#pragma once

namespace koord::manager::webhook {

// The feature gates that webhooks know, with their defaults.
struct Features {
  bool pod_mutating = true;
  bool pod_validating = true;
  bool elastic_mutating = true;
  bool elastic_validating = true;
  bool node_mutating = false;
  bool node_validating = false;
  bool config_map_validating = false;
  bool reservation_mutating = false;
  bool colocation_profile_skip_mutating_resources = false;
  bool colocation_profile_skip_validating_priority = false;
  bool multi_quota_tree = false;
  bool elastic_quota_guarantee_usage = false;
  bool elastic_quota_enable_update_resource_key = false;
  bool elastic_quota_evaluation_transform_pod = false;
  bool replace_resources_transformer = false;
  bool disable_default_quota = false;
  bool support_parent_quota_submit_pod = false;
  bool enable_quota_admission = false;
  bool enable_quota_admission_on_update = false;
  bool validate_pod_device_resource = false;
  bool enable_pod_enhanced_validator = false;
  bool disable_extended_resource_spec = false;
  bool disable_device_resource_spec = false;
  bool binding_admission = false;
};

}  // namespace koord::manager::webhook
