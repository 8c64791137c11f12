// Whatever the kubelet answers, NodeSLO says or the kernel does: it is logged once, with the name
// of what is wrong, and everything else goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/cpu_set.h"
#include "base/log.h"
#include "base/strings.h"
#include "koordlet/agent/koordlet_rig_testing.h"

namespace koord::koordlet::koordlet_hostile_test {
namespace {

using testing::HasSubstr;

// Answers as it is told to.
class FakeKubelet final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest, std::shared_ptr<kube::ResponseWriter> response) override {
    ++requests;
    if (is_silent) {
      waiting.push_back(std::move(response));
    } else {
      response->Finish({status, {}, body});
    }
  }
  int requests = 0;
  bool is_silent = false;
  int status = 200;
  std::string body;
  std::vector<std::shared_ptr<kube::ResponseWriter>> waiting;
};

class HostileTest : public testing::Test {
 protected:
  HostileTest()
      : machine_({.version = CgroupVersion::kV1,
                  .driver = CgroupDriver::kSystemd,
                  .shape = kShape,
                  .anolis = true}),
        service_(TestPod(kService)),
        batch_(TestPod(kBatch)) {
    log::SetSink([this](std::string_view line) { lines_.emplace_back(line); });
    machine_.AddPod(*service_);
    machine_.AddPod(*batch_);
    kubelet_.body = ListOf({service_, batch_});
    KoordletOptions options = BusyOptions();
    koordlet_ = std::make_unique<Koordlet>(loop_, machine_.host(), client_, options,
                                           Koordlet::Parts{.kubelet = &kubelet_client_});
    TellOfNode(*koordlet_, TestNode(kNode), kBusySlo);
    koordlet_->Start();
    Live(20s, 1);
    EXPECT_TRUE(koordlet_->acting());
    EXPECT_EQ(koordlet_->state().pods()->size(), 2u);
    lines_.clear();
  }
  ~HostileTest() override {
    koordlet_.reset();
    log::SetSink(nullptr);
  }

  static std::string ListOf(const PodList::Pods& pods) {
    kube::json::array items;
    for (const auto& pod : pods) items.push_back(kube::Encode(*pod));
    return kube::Serialize(kube::Json{{"items", std::move(items)}});
  }
  void Live(Duration time, double cores) {
    for (Duration passed{}; passed < time; passed += 1s) {
      machine_.UseCpu(machine_.ContainerDir(*service_, "main"),
                      std::chrono::duration_cast<Duration>(1s * cores));
      loop_.Advance(1s);
    }
  }
  // The node is still kept safe: BE gets less when the service needs more, and gets it back.
  void ExpectItWorks() {
    const CgroupDir dir = machine_.layout().QosDir(kube::PodQos::kBestEffort);
    Live(20s, 1);
    EXPECT_GE(CpuSet::Parse(machine_.Get(CgroupFile::kCpuset, dir))->size(), 4u);
    Live(4s, 5);
    EXPECT_EQ(CpuSet::Parse(machine_.Get(CgroupFile::kCpuset, dir))->size(), 2u);
  }
  size_t Logged(std::string_view text) const {
    return std::ranges::count_if(
        lines_, [&](const std::string& line) { return line.find(text) != line.npos; });
  }
  std::string AllLines() const { return Join(lines_, ""); }

  VirtualLoop loop_;
  SilentCluster cluster_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, cluster_), {}};
  FakeKubelet kubelet_;
  KubeletClient kubelet_client_{
      loop_,
      [this](const kube::Node&) -> StatusOr<std::shared_ptr<kube::Transport>> {
        return std::make_shared<kube::InProcessTransport>(loop_, kubelet_);
      },
      3s, nullptr};
  TestHost machine_;
  std::shared_ptr<const kube::Pod> service_, batch_;
  std::unique_ptr<Koordlet> koordlet_;
  std::vector<std::string> lines_;
};

TEST_F(HostileTest, AKubeletThatAnswersNonsenseChangesNothing) {
  const std::string good = kubelet_.body;
  const struct {
    const char* name;
    int status;
    std::string body;
  } cases[] = {
      {"garbage", 200, "\x01\xff{]"},
      {"no list", 200, "[]"},
      {"half an answer", 200, good.substr(0, good.size() / 2)},
      {"items of another kind", 200, R"({"items": 7})"},
      {"an error", 500, "out of order"},
      {"nothing", 200, ""},
      {"no pods", 200, R"({"items": []})"},
      {"very deep", 200, std::string(100'000, '[')},
  };
  for (const auto& each : cases) {
    kubelet_.status = each.status;
    kubelet_.body = each.body;
    lines_.clear();
    const int before = kubelet_.requests;
    Live(35s, 1);
    EXPECT_GT(kubelet_.requests, before + 1) << each.name << ": it asks again";
    EXPECT_EQ(koordlet_->state().pods()->size(), 2u) << each.name;
    EXPECT_LE(lines_.size(), 1u) << each.name << ": said once\n" << AllLines();
  }
  ExpectItWorks();
  kubelet_.status = 200;
  kubelet_.body = ListOf({service_});
  Live(11s, 1);
  EXPECT_EQ(koordlet_->state().pods()->size(), 1u) << "sense is understood again";
}

TEST_F(HostileTest, AKubeletThatDoesNotAnswerIsAskedAgain) {
  kubelet_.is_silent = true;
  lines_.clear();
  Live(60s, 1);
  EXPECT_GT(kubelet_.requests, 3);
  EXPECT_EQ(koordlet_->state().pods()->size(), 2u);
  EXPECT_LE(lines_.size(), 1u) << AllLines();
  ExpectItWorks();
}

TEST_F(HostileTest, ThousandsOfBrokenPodsHarmNoOther) {
  std::string body = R"({"items": [)";
  for (int i = 0; i < 20'000; ++i) {
    body += R"({"metadata": {"name": "bad", "namespace": "x", "uid": 7}, "spec": []},)";
  }
  kubelet_.body = body + kubelet_.body.substr(kubelet_.body.find('[') + 1);
  Live(35s, 1);
  EXPECT_EQ(koordlet_->state().pods()->size(), 2u);
  EXPECT_EQ(Logged("x/bad"), 1u) << "once, with the name\n" << AllLines();
  ExpectItWorks();
}

TEST_F(HostileTest, NonsenseInNodeSloCostsOnlyItsField) {
  koordlet_->OnNodeSlo(NodeSloOf(R"(
resourceUsedThresholdWithBE:
  {enable: true, cpuSuppressThresholdPercent: -70, memoryEvictThresholdPercent: 9223372036854775807,
   cpuSuppressPolicy: both}
cpuBurstStrategy: {policy: often, cpuBurstPercent: -9223372036854775808}
resourceQOSStrategy:
  lsClass: {memoryQOS: {enable: true, minLimitPercent: 5000, wmarkRatio: 1000}}
  beClass: {cpuQOS: {enable: true, groupIdentity: 99}}
)"));
  Live(5s, 1);
  EXPECT_EQ(Logged("cpuSuppressThresholdPercent"), 1u) << AllLines();
  EXPECT_GE(Logged("memoryEvictThresholdPercent"), 1u) << AllLines();
  const size_t said = lines_.size();
  ExpectItWorks();
  EXPECT_LE(lines_.size(), said + 1) << AllLines();
}

// Every write may be the one before which a pod is removed.
TEST_F(HostileTest, CgroupsMayVanishBeforeAnyWrite) {
  for (int vanish_at = 0; vanish_at < 12; ++vanish_at) {
    int writes = 0;
    machine_.cgroup().BeforeChange([&]() -> Status {
      if (writes++ == vanish_at) machine_.RemovePod(*batch_);
      return absl::OkStatus();
    });
    koordlet_->OnNodeSlo(NodeSloOf(vanish_at % 2 == 0 ? "{}" : kBusySlo));
    Live(3s, vanish_at % 2 == 0 ? 1 : 5);
    machine_.cgroup().BeforeChange(nullptr);
    machine_.AddPod(*batch_);
    Live(3s, 1);
  }
  koordlet_->OnNodeSlo(NodeSloOf(kBusySlo));
  EXPECT_TRUE(std::ranges::none_of(lines_, [](const auto& line) { return line.starts_with('E'); }))
      << "a pod that goes is nothing to complain of\n"
      << AllLines();
  ExpectItWorks();
}

TEST_F(HostileTest, AFileThatCannotBeWrittenIsNamedOnceAndTheOthersAreWritten) {
  const CgroupDir dir = machine_.ContainerDir(*batch_, "main");
  const std::string file = "cpu/" + dir.path() + "/cpu.shares";
  machine_.cgroup().SetWriter(file, [&](std::string_view, std::string_view) {
    return absl::PermissionDeniedError(file + ": read-only file system");
  });
  machine_.Set(CgroupFile::kCpuShares, dir, "7");
  machine_.Set(CgroupFile::kCpuQuota, dir, "-1");
  Live(130s, 1);
  EXPECT_EQ(Logged("read-only file system"), 1u) << AllLines();
  EXPECT_EQ(machine_.Get(CgroupFile::kCpuQuota, dir), "400000") << "its other files are put right";
  ExpectItWorks();
}

TEST_F(HostileTest, NamesMayBeAnything) {
  const CgroupDir be = machine_.layout().QosDir(kube::PodQos::kBestEffort);
  for (const char* name : {"\xff\xfe\x01", "kubepods-besteffort-pod\xc3(.slice", "a b\nc", "..."}) {
    machine_.cgroup_kernel().AddDirectory(be.path() + "/" + name);
  }
  auto strange = std::make_shared<kube::Pod>(*batch_);
  strange->metadata.name = "\xff\xfe\n";
  strange->metadata.uid = "u-1";
  strange->metadata.annotations["koordinator.sh/cpuBurst"] = "\xff";
  koordlet_->OnPods({service_, batch_, strange});
  Live(3s, 1);
  for (const std::string& line : lines_) {
    EXPECT_EQ(line.find('\xff'), line.npos) << "logs are text";
    EXPECT_EQ(Trim(line).find('\n'), line.npos) << "one line each: " << line;
  }
  ExpectItWorks();
}

}  // namespace
}  // namespace koord::koordlet::koordlet_hostile_test
