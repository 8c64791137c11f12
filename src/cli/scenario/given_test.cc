#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "api/resources.h"
#include "base/log.h"
#include "base/source_dir/source_dir.h"
#include "cli/scenario/manifest.h"
#include "cli/scenario/scenario.h"
#include "cli/validation/validate.h"
#include "kube/resources.h"
#include "kube/yaml.h"

// What scenarios start from is what users learn from: `koord validate` must find nothing wrong.
namespace koord::scenario::given_test {
namespace {

const kube::Resource* ResourceOf(std::string_view kind) {
  static const std::map<std::string_view, const kube::Resource*> kResources{
      {"Pod", &kube::kPods},
      {"Node", &kube::kNodes},
      {"ConfigMap", &kube::kConfigMaps},
      {"Deployment", &kube::kDeployments},
      {"ClusterColocationProfile", &api::kClusterColocationProfiles},
  };
  const auto found = kResources.find(kind);
  return found == kResources.end() ? nullptr : found->second;
}

// Those that are about something wrong in it.
bool IsAboutMistakes(const Scenario& scenario) {
  constexpr std::string_view kNames[] = {
      "a node may have thresholds of its own",  // one of which cannot be read
      "a reservation that cannot be read changes nothing, here or elsewhere",
      "what a node asks for and cannot have is told in an event of the node",
      "a strategy that makes no sense is refused",
  };
  return std::ranges::find(kNames, scenario.name) != std::end(kNames);
}

void AddGiven(const Scenario& scenario, std::vector<validation::SourceFile>& files) {
  for (const Manifest& given : scenario.given) {
    const kube::Resource* resource = ResourceOf(kube::FindString(given.object, {"kind"}));
    if (resource == nullptr) continue;
    const kube::Json whole = CompleteManifest(given.object, *resource, "default");
    files.push_back(
        {fmt::format("{}:{} ({})", scenario.file, given.line, scenario.name), kube::ToYaml(whole)});
  }
}

TEST(GivenTest, OfOurScenariosIsRight) {
  std::vector<validation::SourceFile> files;
  const std::filesystem::path root = SourcePath("tests/scenarios");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".yaml") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const auto scenarios =
        ParseScenarios(std::filesystem::relative(entry.path(), root).string(), text.str());
    ASSERT_TRUE(scenarios.ok()) << Message(scenarios.status());
    for (const Scenario& scenario : *scenarios) {
      if (!IsAboutMistakes(scenario)) AddGiven(scenario, files);
    }
  }
  EXPECT_GT(files.size(), 100u);
  log::SetSink([](std::string_view) {});  // of the API server that is asked
  const auto findings = validation::Validate(files);
  log::SetSink(nullptr);
  for (const validation::Finding& finding : findings) {
    EXPECT_NE(finding.severity, validation::Severity::kError) << ToString(finding);
  }
}

}  // namespace
}  // namespace koord::scenario::given_test
