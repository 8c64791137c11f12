#include "scheduler/plugins/scheduling_hint/scheduling_hint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::scheduling_hint_test {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kCurrent = "internal.scheduling.koordinator.sh/scheduling-hint";
constexpr std::string_view kDeprecated = "scheduling.koordinator.sh/scheduling-hint";

std::string Pod(std::string_view current, std::string_view deprecated = "") {
  return fmt::format("{{metadata: {{name: p, annotations: {{{}: '{}', {}: '{}'}}}}}}", kCurrent,
                     current, kDeprecated, deprecated);
}

struct Case {
  std::string_view current;
  std::string_view deprecated;
  Code code;
  std::optional<Names> names;
  Names preferred;
};

TEST(SchedulingHintTest, ReadsHints) {
  const Case cases[] = {
      {"", "", Code::kSkip, {}, {}},
      {R"({"nodeNames":["b","a"]})", "", Code::kSuccess, Names{"b", "a"}, {}},
      {R"({"preferredNodeNames":["c","a"]})", "", Code::kSuccess, {}, {"c", "a"}},
      {R"({"nodeNames":["a"],"preferredNodeNames":["a","b","c","d"]})",
       "",
       Code::kSuccess,
       Names{"a"},
       {"a", "b", "c"}},
      {"", R"({"nodeNames":["old"]})", Code::kSuccess, Names{"old"}, {}},
      {R"({"nodeNames":["new"]})", R"({"nodeNames":["old"]})", Code::kSuccess, Names{"new"}, {}},
      {"{}", R"({"nodeNames":["old"]})", Code::kSuccess, {}, {}},
      {R"({"nodeNames":[],"extensions":{"x":1}})", "", Code::kSuccess, {}, {}},
      {"{", R"({"nodeNames":["old"]})", Code::kError, {}, {}},
      {R"({"nodeNames":"a"})", "", Code::kError, {}, {}},
      {"[]", "", Code::kError, {}, {}},
  };
  PluginBed bed;
  SchedulingHint plugin(bed.context, {.max_hint_nodes = 3});
  for (const Case& test : cases) {
    const auto query = bed.Query(plugin, Pod(test.current, test.deprecated));
    EXPECT_EQ(bed.pre_filter.verdict.code, test.code) << test.current;
    EXPECT_EQ(bed.pre_filter.node_names, test.names) << test.current;
    const auto preferred = plugin.PreferNodes(*query);
    EXPECT_EQ(Names(preferred.begin(), preferred.end()), test.preferred) << test.current;
  }
}

TEST(SchedulingHintTest, SaysWhatIsWrongWithAHint) {
  PluginBed bed;
  SchedulingHint plugin(bed.context, {});
  bed.Query(plugin, Pod(R"({"nodeNames":"a"})"));
  EXPECT_NE(bed.pre_filter.verdict.Message().find("nodeNames"), std::string::npos)
      << bed.pre_filter.verdict.Message();
}

TEST(SchedulingHintTest, PodsWithDifferentHintsDoNotShareThem) {
  PluginBed bed;
  SchedulingHint plugin(bed.context, {});
  bed.Query(plugin, Pod(R"({"nodeNames":["a"]})"));
  EXPECT_EQ(bed.pre_filter.node_names, Names{"a"});
  bed.Query(plugin, Pod(R"({"nodeNames":["b"]})"));
  EXPECT_EQ(bed.pre_filter.node_names, Names{"b"});
}

}  // namespace
}  // namespace koord::scheduler::scheduling_hint_test
