#pragma once
#include <string>
#include <vector>

#include "kube/codec.h"
#include "model/quota/quota_admission.h"

// The tree of quotas for people: who may use how much, who has borrowed from whom, and what a pod
// that waits is waiting for.
namespace koord::model {

struct QuotaResource {
  std::string resource;
  std::string min, max, runtime, used, request;
  std::string borrowed;  // what it uses beyond its min
  std::string lent;      // what of its min others may have meanwhile

  static void Fields(auto& self, auto&& field) {
    field("resource", self.resource);
    field("min", self.min);
    field("max", self.max);
    field("runtime", self.runtime);
    field("used", self.used);
    field("request", self.request);
    field("borrowed", self.borrowed);
    field("lent", self.lent);
  }
};

struct QuotaLine {
  std::string name;
  int depth = 0;  // below the root
  std::string tree;
  std::string problem;  // why it has nothing; "" if it is well
  std::vector<QuotaResource> resources;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("depth", self.depth);
    field("tree", self.tree);
    field("problem", self.problem);
    field("resources", self.resources);
  }
};

struct WaitingPod {
  std::string pod;  // NAMESPACE/NAME
  std::string quota;
  std::string why;  // a sentence

  static void Fields(auto& self, auto&& field) {
    field("pod", self.pod);
    field("quota", self.quota);
    field("why", self.why);
  }
};

struct QuotaExplanation {
  std::vector<QuotaLine> quotas;  // parents before their children
  std::vector<WaitingPod> waiting;

  static void Fields(auto& self, auto&& field) {
    field("quotas", self.quotas);
    field("waiting", self.waiting);
  }
};

// A quota with all below it, or with "" all of them.
std::vector<QuotaLine> ExplainQuotas(const QuotaTree& tree, std::string_view name);

// "waits for 2 cpu that team-b has borrowed within its runtime; it is over its min by 3".
std::string ExplainShortfall(const QuotaShortfall& shortfall, const QuotaTree& tree,
                             const QuotaCharge& charge);

// As a table, with a line for each pod that waits.
std::string FormatExplanation(const QuotaExplanation& explanation);

}  // namespace koord::model

KOORD_DECLARE_CODEC(koord::model::QuotaExplanation);
