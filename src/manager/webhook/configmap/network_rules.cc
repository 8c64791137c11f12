#include "manager/webhook/configmap/network_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/setting_rules.h"
#include "base/strings.h"

namespace koord::manager::webhook {
namespace {

using api::NetworkQos;
using kube::IntOrString;
using kube::Quantity;

struct NamedClass {
  const char* name;
  const NetworkQos* network;
};

std::array<NamedClass, 3> ClassesOf(const api::ResourceQosStrategy& strategy) {
  const auto network = [](const std::optional<api::ResourceQos>& qos) {
    return qos && qos->network_qos ? &*qos->network_qos : nullptr;
  };
  return {{{"LSRClass", network(strategy.lsr_class)},
           {"LSClass", network(strategy.ls_class)},
           {"BEClass", network(strategy.be_class)}}};
}

// All shares have the same bounds.
const api::SettingRule& ShareRule() { return api::QosRuleOf("networkQOS", "egressRequest"); }

Status CheckValue(const std::string& path, const std::optional<IntOrString>& value) {
  if (!value) return absl::OkStatus();
  if (value->is_int()) {
    const api::SettingRule& rule = ShareRule();
    if (value->number() >= *rule.at_least && value->number() <= *rule.at_most) {
      return absl::OkStatus();
    }
    return InvalidArgument("{}: Invalid value: {}: must be percentage value just in 0-100'", path,
                           value->number());
  }
  const auto amount = Quantity::Parse(*value->text());
  if (amount.ok()) return absl::OkStatus();
  return InvalidArgument("{}: Invalid value: {}: {}", path, Quote(*value->text()),
                         Message(amount.status()));
}

Status CheckValues(const NamedClass& each, const std::string& path) {
  const NetworkQos& network = *each.network;
  const std::pair<const char*, const std::optional<IntOrString>*> fields[] = {
      {"IngressRequest", &network.ingress_request},
      {"IngressLimit", &network.ingress_limit},
      {"EgressRequest", &network.egress_request},
      {"EgressLimit", &network.egress_limit}};
  for (const auto& [name, value] : fields) {
    RETURN_IF_ERROR(CheckValue(fmt::format("{}.{}.{}", path, each.name, name), *value));
  }
  return absl::OkStatus();
}

struct Sum {
  int64_t percent = 0;
  Quantity amount;

  void Add(const std::optional<IntOrString>& request) {
    if (!request) return;
    if (request->is_int()) {
      percent += request->number();
    } else {
      amount += Quantity::Parse(*request->text()).value_or(Quantity());
    }
  }
};

}  // namespace

NetworkPlace NetworkPlace::Cluster() {
  return {"ResourceQOSCfg.ClusterStrategy",
          "only one type can be used for percentages or quantity in clusterStrategy",
          "ClusterStrategy total net bandwidth percentage already over 100",
          "total net bandwidth over total network bandwidth in clusterStrategy"};
}

NetworkPlace NetworkPlace::Node(size_t index) {
  return {
      fmt::format("ResourceQOSCfg.nodeStrategy.{}", index),
      fmt::format("only one type can be used for percentages or quantity in nodeStrategy[{}]",
                  index),
      fmt::format("cfg.NodeStrategies[{}] total net bandwidth percentage already over 100", index),
      fmt::format("total net bandwidth quantity already over total network bandwidth in "
                  "cfg.NodeStrategies[{}]",
                  index)};
}

Status CheckNetwork(const api::ResourceQosStrategy& strategy, const Quantity& bandwidth,
                    const NetworkPlace& place) {
  bool has_percent = false, has_amount = false;
  Sum ingress, egress;
  for (const NamedClass& each : ClassesOf(strategy)) {
    if (each.network == nullptr) continue;
    RETURN_IF_ERROR(CheckValues(each, place.path));
    for (const auto* request : {&each.network->ingress_request, &each.network->egress_request}) {
      if (!*request) continue;
      ((*request)->is_int() ? has_percent : has_amount) = true;
    }
    ingress.Add(each.network->ingress_request);
    egress.Add(each.network->egress_request);
  }
  if (has_percent && has_amount) return absl::InvalidArgumentError(place.kinds_text);
  if (std::max(ingress.percent, egress.percent) > *ShareRule().at_most) {
    return absl::InvalidArgumentError(place.percent_text);
  }
  if (bandwidth.Sign() > 0 && (ingress.amount > bandwidth || egress.amount > bandwidth)) {
    return absl::InvalidArgumentError(place.amount_text);
  }
  return absl::OkStatus();
}

}  // namespace koord::manager::webhook
