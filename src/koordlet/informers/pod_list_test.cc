#include "koordlet/informers/pod_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/keys.h"
#include "base/log.h"
#include "koordlet/informers/pod_filter.h"
#include "kube/codec.h"

namespace koord::koordlet::pod_list_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ListOf(std::initializer_list<std::pair<const char*, const char*>> pods) {
  kube::json::array items;
  for (const auto& [uid, phase] : pods) {
    items.push_back({{"metadata", {{"name", uid}, {"namespace", "ns"}, {"uid", uid}}},
                     {"status", {{"phase", phase}}}});
  }
  return kube::Serialize({{"kind", "PodList"}, {"items", items}});
}

TEST(PodListReader, DecodesOnlyWhatHasChanged) {
  PodListReader reader;
  const auto first = reader.Read(ListOf({{"a", "Running"}, {"b", "Pending"}}));
  ASSERT_TRUE(first.ok());
  const auto second = reader.Read(ListOf({{"a", "Running"}, {"b", "Running"}}));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(first->pods[0], second->pods[0]) << "the very same object";
  EXPECT_NE(first->pods[1], second->pods[1]) << "its status is another, under the same version";
  EXPECT_EQ(second->pods[1]->status.phase, "Running");
}

TEST(PodListReader, ABadPodHarmsNoOther) {
  PodListReader reader;
  ASSERT_TRUE(reader.Read(ListOf({{"a", "Running"}, {"b", "Running"}})).ok());
  const auto pods = reader.Read(
      R"({"items":[{"metadata":{"name":"a","uid":"a"},"status":{"phase":7}},
                   {"metadata":{"name":"new","uid":"new"},"spec":"?"},
                   {"metadata":{"name":"c","uid":"c"}}, 3]})");
  ASSERT_TRUE(pods.ok()) << Message(pods.status());
  std::vector<std::string> names;
  for (const auto& pod : pods->pods) names.push_back(pod->metadata.name);
  EXPECT_THAT(names, ElementsAre("a", "c")) << "a stays as it was last readable";
  EXPECT_EQ(pods->pods[0]->status.phase, "Running");
}

TEST(PodListReader, RefusesWhatIsNoList) {
  PodListReader reader;
  for (const char* text :
       {"", "garbage", "[]", "{}", R"({"items":{}})", R"({"items":[{)", "\xff"}) {
    EXPECT_FALSE(reader.Read(text).ok()) << text;
  }
  EXPECT_TRUE(reader.Read(R"({"items":null})").ok()) << "how Go writes an empty list";
}

// As the kubelet tells of it, with all that koordlet reads.
constexpr char kFullPod[] = R"({
  "metadata": {
    "name": "p", "namespace": "ns", "uid": "u", "creationTimestamp": "2024-01-02T03:04:05Z",
    "deletionTimestamp": "2024-01-02T03:04:06Z",
    "labels": {"koordinator.sh/qosClass": "LSR", "koordinator.sh/priority": "3", "app": "x"},
    "annotations": {
      "scheduling.koordinator.sh/resource-status": "{\"cpuset\":\"0-1\"}",
      "kubernetes.io/config.mirror": "m", "kubectl.kubernetes.io/last-applied": "{}"},
    "ownerReferences": [{"kind": "Node", "name": "n", "apiVersion": "v1", "uid": "o"}],
    "managedFields": [{"fieldsV1": {"f:spec": {"f:containers": {}}}}]},
  "spec": {
    "nodeName": "n", "priority": 9500, "hostNetwork": true, "runtimeClassName": "kata",
    "overhead": {"cpu": "100m", "example.com/x": "1"},
    "initContainers": [{"name": "i", "restartPolicy": "Always",
                        "resources": {"limits": {"kubernetes.io/batch-cpu": "500"}}}],
    "containers": [{"name": "c", "image": "i:1", "args": ["a", "b"], "env": [{"name": "A"}],
      "resources": {"requests": {"cpu": "1", "memory": 1024, "nvidia.com/gpu": "1"},
                    "limits": {"cpu": 2}}}],
    "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "claim"}},
                {"name": "w", "configMap": {"name": "m", "items": [{"key": "k"}]}},
                {"name": "x", "csi": {"driver": "d", "volumeAttributes": {"a": "b"}}}],
    "tolerations": [{"operator": "Exists"}]},
  "status": {
    "phase": "Running", "qosClass": "Burstable", "podIP": "10.0.0.1",
    "conditions": [{"type": "Ready", "status": "True"}],
    "containerStatuses": [{"name": "c", "containerID": "containerd://1", "ready": true,
                           "state": {"running": {"startedAt": "2024-01-02T03:04:05Z"}}}]}})";

TEST(PodFilter, KeepsWhatIsUsedAndNothingElse) {
  const kube::Json whole = kube::ParseJson(kFullPod).value();
  const kube::Json kept = Filtered(whole);
  const auto pod = kube::Decode<kube::Pod>(kept);
  ASSERT_TRUE(pod.ok()) << Message(pod.status());
  kube::Pod expected = kube::Decode<kube::Pod>(whole).value();
  expected.metadata.labels.Mutable().erase("app");
  expected.metadata.annotations.erase("kubectl.kubernetes.io/last-applied");
  expected.metadata.owner_references = {kube::OwnerReference{.kind = "Node"}};
  expected.spec.overhead.Mutable().erase("example.com/x");
  expected.spec.containers.Mutable()[0].image.clear();
  expected.spec.containers.Mutable()[0].resources.requests.erase("nvidia.com/gpu");
  expected.spec.volumes.Mutable()[1].config_map.reset();
  expected.spec.tolerations.clear();
  expected.status.conditions.clear();
  expected.status.container_statuses.Mutable()[0].ready = false;
  EXPECT_EQ(kube::Serialize(kube::Encode(*pod)), kube::Serialize(kube::Encode(expected)));
  const std::string text = kube::Serialize(kept);
  for (const char* unused : {"args", "env", "managedFields", "volumeAttributes", "nvidia"}) {
    EXPECT_EQ(text.find(unused), std::string::npos) << unused;
  }
}

TEST(PodListDecoder, UnderstandsAListInPiecesOfAnySize) {
  const std::string list = fmt::format(
      R"({{"kind":"PodList","metadata":{{"items":[1]}},"items":[{0}, 7, [], "x", {0}],"z":[{{}}]}} )",
      kFullPod);
  const std::string expected = kube::Serialize(Filtered(kube::ParseJson(kFullPod).value()));
  for (const size_t size : {size_t{1}, size_t{2}, size_t{7}, size_t{100}, list.size()}) {
    PodListDecoder decoder;
    std::vector<std::string> pods;
    const auto note = [&](PodFilter& pod) { pods.push_back(kube::Serialize(pod.document())); };
    for (size_t at = 0; at < list.size(); at += size) {
      ASSERT_TRUE(decoder.Feed(std::string_view(list).substr(at, size), note).ok()) << size;
    }
    ASSERT_TRUE(decoder.Finish(note).ok()) << size;
    EXPECT_THAT(pods, ElementsAre(expected, "7", "[]", "null", expected)) << size;
  }
}

TEST(PodListDecoder, RefusesWhatFollowsAList) {
  PodListReader reader;
  EXPECT_TRUE(reader.Read("{\"items\":[]}\n \n").ok());
  EXPECT_FALSE(reader.Read("{\"items\":[]} {}").ok());
  reader.Begin();
  EXPECT_TRUE(reader.Feed("{\"items\":[]}").ok());
  EXPECT_TRUE(reader.Feed("\n").ok());
  EXPECT_TRUE(reader.Finish().ok());
}

// A pod of the size that its author likes, in pieces as they come from a socket.
class Flood {
 public:
  explicit Flood(PodListReader& reader) : reader_(reader) { reader_.Begin(); }

  void Tell(std::string_view text) {
    constexpr size_t kPiece = 16 << 10;
    while (!text.empty()) {
      ASSERT_TRUE(reader_.Feed(text.substr(0, kPiece)).ok());
      text.remove_prefix(std::min(text.size(), kPiece));
    }
  }
  void Pod(int i, std::string_view metadata, std::string_view spec) {
    Tell(fmt::format(
        R"({}{{"metadata":{{"name":"p{}","namespace":"x","uid":"u{}"{}}},"spec":{{{}}},"status":{{"phase":"Running"}}}})",
        i == 0 ? "{\"items\":[" : ",", i, i, metadata, spec));
  }
  StatusOr<PodList> End() {
    Tell("]}");
    return reader_.Finish();
  }

 private:
  PodListReader& reader_;
};

size_t AnnotationBytes(const PodList& list) {
  size_t bytes = 0;
  for (const auto& pod : list.pods) {
    for (const auto& [key, value] : pod->metadata.annotations) bytes += value.size();
  }
  return bytes;
}

TEST(PodListReader, MemoryDoesNotFollowAnnotationsThatNobodyUses) {
  metrics::Registry registry;
  PodListReader reader(&registry);
  Flood flood(reader);
  const std::string large(250 << 10, 'x');
  for (int i = 0; i < 110; ++i) {
    flood.Pod(i,
              fmt::format(R"(,"annotations":{{"{}":"{}"}})",
                          i % 2 == 0 ? "note" : api::kAnnotationCpuBurst, large),
              "");
  }
  EXPECT_LT(reader.peak_bytes(), size_t{64} << 10);
  const auto list = flood.End();
  ASSERT_TRUE(list.ok()) << Message(list.status());
  EXPECT_EQ(list->pods.size(), 110u);
  EXPECT_EQ(AnnotationBytes(*list), 0u);
  EXPECT_THAT(
      registry.Text(),
      HasSubstr(R"(koordlet_pod_annotation_refused_total{key="koordinator.sh/cpuBurst"} 55)"));
}

TEST(PodListReader, AllUsedAnnotationsOfAPodTogetherAreBounded) {
  PodListReader reader;
  Flood flood(reader);
  const std::string most(PodBudget::kAnnotation, 'x');
  std::string annotations;
  for (const std::string_view key :
       {api::kAnnotationCpuBurst, api::kAnnotationCpuQos, api::kAnnotationMemoryQos,
        api::kAnnotationBlkioQos, api::kAnnotationNetworkQos, api::kAnnotationResctrl}) {
    annotations += fmt::format(R"({}"{}":"{}")", annotations.empty() ? "" : ",", key, most);
  }
  for (int i = 0; i < 10; ++i)
    flood.Pod(i, fmt::format(R"(,"annotations":{{{}}})", annotations), "");
  EXPECT_LE(reader.peak_bytes(), size_t{128} << 10);
  const auto list = flood.End();
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(AnnotationBytes(*list), 10 * PodBudget::kAnnotations);
}

TEST(PodListReader, MemoryDoesNotFollowTheSizeOfSpecs) {
  PodListReader reader;
  Flood flood(reader);
  std::string containers;
  for (int i = 0; i < 20'000; ++i) {
    containers += fmt::format(
        R"({}{{"name":"c{}","env":[{{"name":"A","value":"b"}}],"resources":{{"limits":{{"cpu":"1","a.b/c{}":"1"}}}}}})",
        i == 0 ? "" : ",", i, i);
  }
  ASSERT_GT(containers.size(), size_t{1} << 20);
  for (int i = 0; i < 12; ++i) flood.Pod(i, "", fmt::format(R"("containers":[{}])", containers));
  EXPECT_LE(reader.peak_bytes(), size_t{128} << 10);
  const auto list = flood.End();
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->pods.size(), 12u);
  for (const auto& pod : list->pods) {
    EXPECT_EQ(pod->spec.containers.size(), PodBudget::kElements);
    EXPECT_EQ(pod->spec.containers[0].resources.limits.size(), 1u);
    EXPECT_EQ(pod->status.phase, "Running") << "a large spec must not hide the status";
  }
}

TEST(PodListReader, PodsThatHaveEndedAreCountedAndNotKept) {
  PodListReader reader;
  const auto list = reader.Read(
      ListOf({{"a", "Succeeded"}, {"b", "Running"}, {"c", "Failed"}, {"d", "Pending"}}));
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->listed, 4u);
  ASSERT_EQ(list->pods.size(), 2u);
  EXPECT_EQ(list->pods[0]->metadata.name, "b");
  const auto ended = reader.Read(ListOf({{"b", "Succeeded"}}));
  EXPECT_EQ(ended->listed, 1u);
  EXPECT_THAT(ended->pods, IsEmpty());
}

TEST(PodListReader, OfAFloodOfPodsAsManyAreKeptAsAKubeletRuns) {
  std::vector<std::string> logged;
  log::SetSink([&](std::string_view line) { logged.emplace_back(line); });
  PodListReader reader;
  Flood flood(reader);
  for (int i = 0; i < 20'000; ++i) flood.Pod(i, "", R"("nodeName":"n")");
  const auto list = flood.End();
  log::SetSink(nullptr);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->listed, 20'000u);
  EXPECT_EQ(list->pods.size(), PodListReader::kMaxPods);
  ASSERT_EQ(logged.size(), 1u) << "said once";
  EXPECT_THAT(logged[0], HasSubstr("more pods than are looked at"));
}

// A list that breaks off must not lose what the one before it said.
TEST(PodListReader, GoesOnAfterAListThatBrokeOff) {
  PodListReader reader;
  const auto first = reader.Read(ListOf({{"a", "Running"}}));
  reader.Begin();
  ASSERT_TRUE(reader.Feed(R"({"items":[{"metadata":)").ok());
  EXPECT_FALSE(reader.Finish().ok());
  const auto second = reader.Read(ListOf({{"a", "Running"}}));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->pods[0], second->pods[0]) << "the very same object";
}

}  // namespace
}  // namespace koord::koordlet::pod_list_test
