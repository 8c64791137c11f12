#include "kube/objects/node.h"

namespace koord::kube {

bool IsReady(const Node& node) { return IsConditionTrue(node.status.conditions, "Ready"); }

std::string_view AddressOf(const Node& node, std::string_view type) {
  for (const NodeAddress& address : node.status.addresses) {
    if (address.type == type) return address.address;
  }
  return {};
}

}  // namespace koord::kube

KOORD_DEFINE_CODEC(koord::kube::Node);
