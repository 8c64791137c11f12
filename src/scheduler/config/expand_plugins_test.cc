#include "scheduler/config/expand_plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/source_dir/source_dir.h"
#include "base/strings.h"
#include "scheduler/config/catalog_testing.h"
#include "scheduler/config/load_configuration.h"

namespace koord::scheduler::expand_plugins_test {
namespace {

using enum ExtensionPoint;
using testing::ElementsAre;
using testing::IsEmpty;

std::string Configuration(std::string_view rest) {
  return fmt::format("apiVersion: {}\nkind: {}\n{}\n", kConfigApiVersion, kConfigKind, rest);
}

std::string Plugins(std::string_view plugins) {
  return Configuration(fmt::format("profiles:\n- plugins: {}", plugins));
}

StatusOr<ExpandedPlugins> Expand(std::string_view text, const PluginCatalog& catalog) {
  ASSIGN_OR_RETURN(LoadedConfiguration loaded, LoadConfiguration(text, "s.yaml"));
  return ExpandPlugins(loaded.configuration, catalog);
}

std::string ErrorOf(std::string_view text) {
  const auto expanded = Expand(text, FullCatalog());
  return expanded.ok() ? "" : std::string(Message(expanded.status()));
}

// "A, B" or, at score, "A 1, B 5".
std::string OrderAt(const ProfilePlugins& profile, ExtensionPoint point) {
  std::vector<std::string> names;
  for (const EnabledPlugin& plugin : profile.At(point)) {
    names.push_back(point == kScore ? fmt::format("{} {}", plugin.name, plugin.weight)
                                    : plugin.name);
  }
  return Join(names, ", ");
}

std::string ReadTestFile(std::string_view name) {
  return ReadFile(SourcePath("src/scheduler/config/testdata") / name).value();
}

// What the in-tree plugins make of these points in every profile that does not touch them.
constexpr std::string_view kInTreePreFilter =
    "NodeAffinity, NodePorts, NodeResourcesFit, VolumeRestrictions, NodeVolumeLimits, "
    "VolumeBinding, VolumeZone, PodTopologySpread, InterPodAffinity, DynamicResources";
constexpr std::string_view kInTreeFilter =
    "NodeUnschedulable, NodeName, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit, "
    "VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone, PodTopologySpread, "
    "InterPodAffinity, DynamicResources";
constexpr std::string_view kInTreePreScore =
    "TaintToleration, NodeAffinity, NodeResourcesFit, PodTopologySpread, InterPodAffinity, "
    "NodeResourcesBalancedAllocation";
constexpr std::string_view kInTreeScore =
    "TaintToleration 3, NodeAffinity 2, NodeResourcesFit 1, PodTopologySpread 2, "
    "InterPodAffinity 2, NodeResourcesBalancedAllocation 1, ImageLocality 1";

std::string Then(std::string_view in_tree, std::string_view more) {
  return fmt::format("{}, {}", in_tree, more);
}

TEST(ExpandPluginsTest, DefaultProfile) {
  const auto expanded = ExpandPlugins(DefaultConfiguration(), FullCatalog());
  ASSERT_TRUE(expanded.ok()) << expanded.status();
  EXPECT_THAT(expanded->warnings, IsEmpty());
  ASSERT_EQ(expanded->profiles.size(), 1u);
  const ProfilePlugins& profile = expanded->profiles.front();
  EXPECT_EQ(profile.scheduler_name, "default-scheduler");
  EXPECT_EQ(OrderAt(profile, kPreEnqueue), "SchedulingGates, DynamicResources");
  EXPECT_EQ(OrderAt(profile, kQueueSort), "PrioritySort");
  EXPECT_EQ(OrderAt(profile, kPreFilter), kInTreePreFilter);
  EXPECT_EQ(OrderAt(profile, kFilter), kInTreeFilter);
  EXPECT_EQ(OrderAt(profile, kPostFilter), "DynamicResources, DefaultPreemption");
  EXPECT_EQ(OrderAt(profile, kPreScore), kInTreePreScore);
  EXPECT_EQ(OrderAt(profile, kScore), kInTreeScore);
  EXPECT_EQ(OrderAt(profile, kReserve), "VolumeBinding, DynamicResources");
  EXPECT_EQ(OrderAt(profile, kPermit), "");
  EXPECT_EQ(OrderAt(profile, kPreBind), "VolumeBinding, DynamicResources, DefaultPreBind");
  EXPECT_EQ(OrderAt(profile, kBind), "DefaultBinder");
  EXPECT_EQ(OrderAt(profile, kPostBind), "");
}

// What both shipped profiles have in common.
void ExpectShippedOrder(const ProfilePlugins& profile) {
  EXPECT_EQ(profile.scheduler_name, "koord-scheduler");
  EXPECT_EQ(OrderAt(profile, kPreEnqueue), "SchedulingGates, DynamicResources, Coscheduling");
  EXPECT_EQ(OrderAt(profile, kQueueSort), "PrioritySort");
  EXPECT_EQ(OrderAt(profile, kPreScore), Then(kInTreePreScore, "Reservation, Coscheduling"));
  EXPECT_EQ(OrderAt(profile, kScore),
            Then(kInTreeScore,
                 "LoadAwareScheduling 1, NodeNUMAResource 1, DeviceShare 1, Reservation 5000, "
                 "Coscheduling 1"));
  EXPECT_EQ(OrderAt(profile, kPermit), "Coscheduling");
  EXPECT_EQ(OrderAt(profile, kPreBind),
            "VolumeBinding, DynamicResources, NodeNUMAResource, DeviceShare, Reservation, "
            "Coscheduling, DefaultPreBind");
  EXPECT_EQ(OrderAt(profile, kBind), "Reservation, DefaultBinder");
  EXPECT_EQ(OrderAt(profile, kPostBind), "Coscheduling");
}

TEST(ExpandPluginsTest, ProfileOfTheChart) {
  const auto expanded = Expand(ReadTestFile("chart.yaml"), FullCatalog());
  ASSERT_TRUE(expanded.ok()) << expanded.status();
  const ProfilePlugins& profile = expanded->profiles.front();
  ExpectShippedOrder(profile);
  EXPECT_EQ(OrderAt(profile, kPreFilter),
            Then(kInTreePreFilter,
                 "SchedulingHint, Coscheduling, Reservation, NodeNUMAResource, DeviceShare, "
                 "ElasticQuota"));
  EXPECT_EQ(OrderAt(profile, kFilter),
            Then(kInTreeFilter, "Reservation, LoadAwareScheduling, NodeNUMAResource, DeviceShare"));
  EXPECT_EQ(OrderAt(profile, kPostFilter), "Reservation, Coscheduling, ElasticQuota");
  EXPECT_EQ(OrderAt(profile, kReserve),
            "VolumeBinding, DynamicResources, Reservation, LoadAwareScheduling, NodeNUMAResource, "
            "DeviceShare, Coscheduling, ElasticQuota");
}

TEST(ExpandPluginsTest, ProfileOfTheManifest) {
  const auto expanded = Expand(ReadTestFile("manifest.yaml"), FullCatalog());
  ASSERT_TRUE(expanded.ok()) << expanded.status();
  const ProfilePlugins& profile = expanded->profiles.front();
  ExpectShippedOrder(profile);
  EXPECT_EQ(OrderAt(profile, kPreFilter),
            Then(kInTreePreFilter,
                 "SchedulingHint, Reservation, NodeNUMAResource, DeviceShare, Coscheduling, "
                 "ElasticQuota"));
  EXPECT_EQ(OrderAt(profile, kFilter),
            Then(kInTreeFilter, "LoadAwareScheduling, NodeNUMAResource, DeviceShare, Reservation"));
  EXPECT_EQ(OrderAt(profile, kPostFilter),
            "Reservation, Coscheduling, ElasticQuota, DefaultPreemption");
  EXPECT_EQ(OrderAt(profile, kReserve),
            "VolumeBinding, DynamicResources, LoadAwareScheduling, NodeNUMAResource, DeviceShare, "
            "Reservation, Coscheduling, ElasticQuota");
}

TEST(ExpandPluginsTest, PluginsThatAreNotBuiltInAreLeftOutWithAWarning) {
  PluginCatalog catalog = FullCatalog();
  for (const char* name : {"Coscheduling", "Reservation", "NodeNUMAResource", "DeviceShare",
                           "ElasticQuota", "DynamicResources"}) {
    catalog.erase(name);
  }
  for (const char* file : {"chart.yaml", "manifest.yaml"}) {
    const auto expanded = Expand(ReadTestFile(file), catalog);
    ASSERT_TRUE(expanded.ok()) << expanded.status();
    ASSERT_EQ(expanded->warnings.size(), 1u);
    EXPECT_THAT(expanded->warnings.front(),
                testing::StartsWith("s.yaml: profiles[0].plugins: profile \"koord-scheduler\" runs "
                                    "without plugins that are not built in: DynamicResources, "
                                    "Coscheduling, "));
    for (const char* name : {"Reservation", "NodeNUMAResource", "DeviceShare", "ElasticQuota"}) {
      EXPECT_THAT(expanded->warnings.front(), testing::HasSubstr(name));
    }
    EXPECT_EQ(OrderAt(expanded->profiles.front(), kBind), "DefaultBinder");
    EXPECT_EQ(OrderAt(expanded->profiles.front(), kPermit), "");
  }
}

TEST(ExpandPluginsTest, Weights) {
  const auto scores = [](std::string_view plugins) {
    const auto expanded = Expand(Plugins(plugins), FullCatalog());
    if (!expanded.ok()) return std::string(Message(expanded.status()));
    return OrderAt(expanded->profiles.front(), kScore);
  };
  const std::string_view rest =
      "NodeResourcesFit 1, PodTopologySpread 2, InterPodAffinity 2, "
      "NodeResourcesBalancedAllocation 1, ImageLocality 1";
  EXPECT_EQ(scores("{multiPoint: {enabled: [{name: NodeAffinity, weight: 9}]}}"),
            fmt::format("TaintToleration 3, NodeAffinity 9, {}", rest))
      << "a default that is enabled again keeps its place";
  EXPECT_EQ(scores("{score: {enabled: [{name: NodeAffinity, weight: 9}]}}"),
            fmt::format("NodeAffinity 9, TaintToleration 3, {}", rest))
      << "what the point itself enables comes first";
  EXPECT_EQ(scores("{score: {enabled: [{name: TaintToleration}]}}"),
            fmt::format("TaintToleration 1, NodeAffinity 2, {}", rest))
      << "no weight is 1, not the default one";
  EXPECT_EQ(scores("{score: {disabled: [{name: TaintToleration}], "
                   "enabled: [{name: TaintToleration, weight: 7}]}}"),
            fmt::format("NodeAffinity 2, {}, TaintToleration 7", rest))
      << "disabled and enabled again moves to the end";
  EXPECT_EQ(scores("{score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality}, "
                   "{name: LoadAwareScheduling, weight: 4}, {name: NodeAffinity}]}}"),
            "ImageLocality 1, LoadAwareScheduling 4, NodeAffinity 1")
      << "the point alone decides";
  EXPECT_EQ(scores("{multiPoint: {disabled: [{name: ImageLocality}, {name: NodeResourcesFit}], "
                   "enabled: [{name: LoadAwareScheduling}, {name: ImageLocality, weight: 6}]}}"),
            "TaintToleration 3, NodeAffinity 2, PodTopologySpread 2, InterPodAffinity 2, "
            "NodeResourcesBalancedAllocation 1, LoadAwareScheduling 1, ImageLocality 6");
}

TEST(ExpandPluginsTest, DefaultPreBindIsAddedUnlessTheProfileDecides) {
  const auto pre_bind = [](std::string_view plugins) {
    const auto expanded = Expand(Plugins(plugins), FullCatalog());
    if (!expanded.ok()) return std::string(Message(expanded.status()));
    return OrderAt(expanded->profiles.front(), kPreBind);
  };
  EXPECT_EQ(pre_bind("null"), "VolumeBinding, DynamicResources, DefaultPreBind");
  EXPECT_EQ(pre_bind("{}"), "VolumeBinding, DynamicResources, DefaultPreBind");
  EXPECT_EQ(pre_bind("{preBind: {enabled: [{name: Reservation}]}}"),
            "VolumeBinding, DynamicResources, Reservation, DefaultPreBind");
  EXPECT_EQ(pre_bind("{preBind: {enabled: [{name: DefaultPreBind}, {name: Reservation}]}}"),
            "VolumeBinding, DynamicResources, DefaultPreBind, Reservation");
  EXPECT_EQ(pre_bind("{preBind: {disabled: [{name: DefaultPreBind}]}}"),
            "VolumeBinding, DynamicResources");
  EXPECT_EQ(pre_bind("{preBind: {disabled: [{name: '*'}]}}"), "");
}

TEST(ExpandPluginsTest, GangPluginOrdersTheQueueOfOldProfiles) {
  const std::string text =
      Plugins("{queueSort: {disabled: [{name: '*'}], enabled: [{name: Coscheduling}]}}");
  auto expanded = Expand(text, FullCatalog());
  ASSERT_TRUE(expanded.ok()) << expanded.status();
  EXPECT_EQ(OrderAt(expanded->profiles.front(), kQueueSort), "Coscheduling");
  PluginCatalog catalog = FullCatalog();
  catalog.erase("Coscheduling");
  expanded = Expand(text, catalog);
  ASSERT_TRUE(expanded.ok()) << expanded.status();
  EXPECT_EQ(OrderAt(expanded->profiles.front(), kQueueSort), "PrioritySort");
  EXPECT_THAT(expanded->warnings,
              ElementsAre("s.yaml: profiles[0].plugins: profile \"default-scheduler\" runs without "
                          "plugins that are not built in: Coscheduling"));
}

TEST(ExpandPluginsTest, StartUpErrors) {
  const struct {
    const char* name;
    std::string text;
    const char* error;
  } kCases[] = {
      {"unknown plugin at a point", Plugins("{filter: {enabled: [{name: NodeNam}]}}"),
       "s.yaml:4: profiles[0].plugins.filter: plugin \"NodeNam\" does not exist (did you mean "
       "NodeName?)"},
      {"unknown plugin at all points", Plugins("{multiPoint: {enabled: [{name: Quux}]}}"),
       "s.yaml:4: profiles[0].plugins.multiPoint: plugin \"Quux\" does not exist"},
      {"a point that the plugin has nothing to do with",
       Plugins("{filter: {enabled: [{name: LoadAwareScheduling}, {name: ImageLocality}]}}"),
       "s.yaml:4: profiles[0].plugins.filter: plugin ImageLocality has nothing to do here: it "
       "takes part in score"},
      {"no order", Plugins("{queueSort: {disabled: [{name: '*'}]}}"),
       "s.yaml: profiles[0].plugins.queueSort: exactly one plugin must order the queue, found "
       "none"},
      {"two orders", Plugins("{queueSort: {enabled: [{name: Coscheduling}]}}"),
       "s.yaml:4: profiles[0].plugins.queueSort: exactly one plugin must order the queue, found "
       "PrioritySort, Coscheduling"},
      {"nobody binds", Plugins("{bind: {disabled: [{name: '*'}]}}"),
       "s.yaml: profiles[0].plugins.bind: no plugin binds pods: at least one must"},
      {"nothing at all", Plugins("{multiPoint: {disabled: [{name: '*'}]}}"),
       "s.yaml: profiles[0].plugins.queueSort: exactly one plugin must order the queue, found "
       "none\n"
       "s.yaml: profiles[0].plugins.bind: no plugin binds pods: at least one must"},
      {"two profiles, two orders",
       Configuration("profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins: {queueSort: "
                     "{disabled: [{name: '*'}], enabled: [{name: Coscheduling}]}}"),
       "s.yaml: profiles[1].plugins.queueSort: Coscheduling is not PrioritySort: must be the same "
       "for all profiles"},
      {"listed twice", Plugins("{filter: {enabled: [{name: NodeName}, {name: NodeName}]}}"),
       "s.yaml:4: profiles[0].plugins.filter.enabled[1].name: \"NodeName\" is listed twice"},
      {"negative weight", Plugins("{score: {enabled: [{name: ImageLocality, weight: -3}]}}"),
       "s.yaml:4: profiles[0].plugins.score.enabled[0].weight: -3 is too small: must be at least "
       "0"},
      {"weight beyond all bounds",
       Plugins("{score: {enabled: [{name: ImageLocality, weight: 2147483648}]}}"),
       "s.yaml:4: profiles[0].plugins.score.enabled[0].weight: expected a 32-bit integer, found a "
       "number"},
      {"no name", Plugins("{score: {enabled: [{weight: 1}]}}"),
       "s.yaml:4: profiles[0].plugins.score.enabled[0].name: must not be empty"},
  };
  for (const auto& test : kCases) EXPECT_EQ(ErrorOf(test.text), test.error) << test.name;
}

}  // namespace
}  // namespace koord::scheduler::expand_plugins_test
