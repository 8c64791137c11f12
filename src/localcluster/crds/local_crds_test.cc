#include "localcluster/crds/local_crds.h"

#include <gtest/gtest.h>

#include "api/crds.h"
#include "api/resources.h"
#include "kube/objects/custom_resource_definition.h"

namespace koord::localcluster::local_crds_test {
namespace {

kube::CustomResourceDefinition Reservations() {
  for (const kube::Json& json : LocalCrds()) {
    auto crd = kube::Decode<kube::CustomResourceDefinition>(json);
    EXPECT_TRUE(crd.ok()) << crd.status();
    if (crd.ok() && crd->metadata.name == api::kReservations.qualified()) return *crd;
  }
  ADD_FAILURE() << "no CRD of reservations";
  return {};
}

TEST(LocalCrdsTest, AllOfDeployAreThere) {
  EXPECT_EQ(LocalCrds().size(), api::CustomResourceDefinitions().size());
}

TEST(LocalCrdsTest, ReservationsAreServedInTwoVersionsThatAreAlike) {
  const auto crd = Reservations();
  ASSERT_EQ(crd.spec.versions.size(), 2);
  const auto& alpha = crd.spec.versions[0];
  const auto& v1 = crd.spec.versions[1];
  EXPECT_EQ(alpha.name, "v1alpha1");
  EXPECT_EQ(v1.name, "v1");
  EXPECT_TRUE(alpha.served && v1.served);
  EXPECT_TRUE(alpha.storage);
  EXPECT_FALSE(v1.storage);
  EXPECT_EQ(alpha.schema, v1.schema) << "what is written as one is read as the other";
  EXPECT_EQ(alpha.additional_printer_columns, v1.additional_printer_columns);
  EXPECT_NE(kube::Find(v1.schema->open_api_v3_schema,
                       {"properties", "spec", "properties", "resources", "properties", "requests"}),
            nullptr);
}

}  // namespace
}  // namespace koord::localcluster::local_crds_test
