#include "localcluster/crds/local_crds.h"

#include "api/crds.h"
#include "api/resources.h"
#include "kube/patch/json_patch.h"
#include "kube/yaml.h"

namespace koord::localcluster {
namespace {

// The files are part of the program: tests have read them.
kube::Json Parse(const EmbeddedFile& file) { return kube::ParseYaml(file.text).value(); }

}  // namespace

// Parsed once a process: scenarios start hundreds of clusters.
const std::vector<kube::Json>& LocalCrds() {
  static const std::vector<kube::Json> kCrds = [] {
    std::vector<kube::Json> crds;
    for (const EmbeddedFile& file : api::CustomResourceDefinitions()) {
      kube::Json crd = Parse(file);
      if (kube::FindString(crd, {"metadata", "name"}) == api::kReservations.qualified()) {
        crd = kube::ApplyJsonPatch(std::move(crd), Parse(ReservationV1Patch().front())).value();
      }
      crds.push_back(std::move(crd));
    }
    return crds;
  }();
  return kCrds;
}

}  // namespace koord::localcluster
