#include <string>
#include <vector>

#include "base/strings.h"
#include "localcluster/apiserver/tables/cells.h"
#include "localcluster/apiserver/tables/printer.h"

namespace koord::apiserver {
namespace {

using kube::Json;
namespace json = kube::json;

constexpr Column kLeaseColumns[] = {kNameColumn, {"Holder"}, kAgeColumn};

void PrintLease(Row& row) { row.Name().TextAt({"spec", "holderIdentity"}).Age(); }

constexpr Column kBudgetColumns[] = {
    kNameColumn, {"Min Available"}, {"Max Unavailable"}, Number("Allowed Disruptions"), kAgeColumn};

void PrintDisruptionBudget(Row& row) {
  constexpr std::string_view kAbsent = "N/A";
  row.Name().Text(ScalarText(kube::Find(row.object, {"spec", "minAvailable"})), kAbsent);
  row.Text(ScalarText(kube::Find(row.object, {"spec", "maxUnavailable"})), kAbsent);
  row.IntAt({"status", "disruptionsAllowed"}).Age();
}

constexpr Column kPriorityClassColumns[] = {
    kNameColumn, Number("Value"), Flag("Global-Default"), kAgeColumn, {"PreemptionPolicy"}};

void PrintPriorityClass(Row& row) {
  row.Name().IntAt({"value"}).BoolAt({"globalDefault"}).Age().TextAt({"preemptionPolicy"});
}

constexpr Column kBindingColumns[] = {kNameColumn,   {"Role"},       kAgeColumn,
                                      Wide("Users"), Wide("Groups"), Wide("ServiceAccounts")};

void PrintRoleBinding(Row& row) {
  std::vector<std::string> users, groups, accounts;
  if (const auto* subjects = kube::FindArray(row.object, {"subjects"})) {
    for (const Json& subject : *subjects) {
      const std::string_view kind = kube::FindString(subject, {"kind"});
      const std::string name(kube::FindString(subject, {"name"}));
      if (kind == "User") users.push_back(name);
      if (kind == "Group") groups.push_back(name);
      if (kind == "ServiceAccount") {
        accounts.push_back(fmt::format("{}/{}", kube::FindString(subject, {"namespace"}), name));
      }
    }
  }
  row.Name().Text(fmt::format("{}/{}", row.Get({"roleRef", "kind"}), row.Get({"roleRef", "name"})));
  row.Age().Text(Join(users, ", ")).Text(Join(groups, ", ")).Text(Join(accounts, ", "));
}

constexpr Column kWebhookColumns[] = {kNameColumn, Number("Webhooks"), kAgeColumn};

void PrintWebhooks(Row& row) {
  row.Name().Int(static_cast<int64_t>(SizeOf(kube::FindArray(row.object, {"webhooks"})))).Age();
}

constexpr Column kResourceClaimColumns[] = {kNameColumn, {"State"}, kAgeColumn};

void PrintResourceClaim(Row& row) {
  const bool allocated = kube::FindObject(row.object, {"status", "allocation"}) != nullptr;
  std::vector<std::string_view> states;
  if (row.deleting()) states.push_back("deleted");
  if (!allocated && !row.deleting()) states.push_back("pending");
  if (allocated) states.push_back("allocated");
  if (allocated && SizeOf(kube::FindArray(row.object, {"status", "reservedFor"})) > 0) {
    states.push_back("reserved");
  }
  row.Name().Text(Join(states, ",")).Age();
}

constexpr Column kSliceColumns[] = {kNameColumn, {"Node"}, {"Driver"}, {"Pool"}, kAgeColumn};

void PrintResourceSlice(Row& row) {
  row.Name().TextAt({"spec", "nodeName"}).TextAt({"spec", "driver"});
  row.TextAt({"spec", "pool", "name"}).Age();
}

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kAdmission = "admissionregistration.k8s.io";

constexpr Printer kPolicyPrinters[] = {
    {"coordination.k8s.io", "Lease", kLeaseColumns, PrintLease},
    {"policy", "PodDisruptionBudget", kBudgetColumns, PrintDisruptionBudget},
    {"scheduling.k8s.io", "PriorityClass", kPriorityClassColumns, PrintPriorityClass},
    {kRbac, "RoleBinding", kBindingColumns, PrintRoleBinding},
    {kRbac, "ClusterRoleBinding", kBindingColumns, PrintRoleBinding},
    {kAdmission, "MutatingWebhookConfiguration", kWebhookColumns, PrintWebhooks},
    {kAdmission, "ValidatingWebhookConfiguration", kWebhookColumns, PrintWebhooks},
    {"resource.k8s.io", "ResourceClaim", kResourceClaimColumns, PrintResourceClaim},
    {"resource.k8s.io", "ResourceSlice", kSliceColumns, PrintResourceSlice},
};

}  // namespace

std::span<const Printer> PolicyPrinters() { return kPolicyPrinters; }

}  // namespace koord::apiserver
