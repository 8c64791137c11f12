#include "scheduler/cluster/pending_pods.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::scheduler::pending_pods_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Noting final : public PodListener {
 public:
  void OnPodPending(const PodPtr& before, const PodPtr& after) override {
    Note(before == nullptr ? "new" : "changed", after);
  }
  void OnPodBound(const PodPtr& before, const PodPtr& after) override {
    Note(before == nullptr ? "bound unseen" : "bound", after);
  }
  void OnPodGone(const PodPtr& last) override { Note("gone", last); }

  std::vector<std::string> Notes() { return std::exchange(notes_, {}); }

 private:
  void Note(std::string_view what, const PodPtr& pod) {
    notes_.push_back(fmt::format("{} {}", what, pod->metadata.name));
  }

  std::vector<std::string> notes_;
};

std::shared_ptr<const kube::Pod> Pod(std::string_view name) {
  auto pod = std::make_shared<kube::Pod>();
  pod->metadata.name = pod->metadata.uid = name;
  return pod;
}

TEST(PendingPodsTest, ListenersHearOfPodsWithoutANode) {
  PendingPods pending;
  Noting listener;
  pending.AddListener(listener);
  pending.Set(Pod("a"));
  pending.Set(Pod("a"));
  pending.Set(Pod("b"));
  EXPECT_THAT(listener.Notes(), ElementsAre("new a", "changed a", "new b"));
  pending.SetBound(Pod("a"), false);
  pending.SetBound(Pod("a"), true);
  pending.Remove("a");
  EXPECT_THAT(listener.Notes(), ElementsAre("bound a")) << "the rest is for the ledger";
  pending.Remove("b");
  pending.Remove("b");
  EXPECT_THAT(listener.Notes(), ElementsAre("gone b"));
  EXPECT_EQ(pending.size(), 0u);
}

TEST(PendingPodsTest, APodThatIsFirstSeenOnItsNodeIsBoundToo) {
  PendingPods pending;
  Noting listener;
  pending.AddListener(listener);
  pending.SetBound(Pod("a"), false);
  EXPECT_THAT(listener.Notes(), ElementsAre("bound unseen a"));
}

TEST(PendingPodsTest, WhoComesLateHearsOfThoseThatAreThere) {
  PendingPods pending;
  pending.Set(Pod("a"));
  Noting listener;
  pending.AddListener(listener);
  EXPECT_THAT(listener.Notes(), ElementsAre("new a"));
  EXPECT_THAT(listener.Notes(), IsEmpty());
}

}  // namespace
}  // namespace koord::scheduler::pending_pods_test
