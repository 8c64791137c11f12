#include "kube/patch/strategic_merge_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api_error.h"

namespace koord::kube::strategic_merge_patch_test {
namespace {

using testing::StartsWith;

StatusOr<Json> Apply(const char* kind, std::string_view document, std::string_view patch) {
  for (const char* version : {"v1", "apps/v1", "policy/v1"}) {
    if (const Type* type = FindBuiltinType(version, kind)) {
      return ApplyStrategicMergePatch(ParseJson(document).value(), ParseJson(patch).value(), *type);
    }
  }
  return Internal("no type {}", kind);
}

struct Case {
  const char* name;
  const char* kind;
  const char* document;
  const char* patch;
  const char* result;
};

void Check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    const StatusOr<Json> result = Apply(c.kind, c.document, c.patch);
    ASSERT_TRUE(result.ok()) << c.name << ": " << result.status();
    EXPECT_EQ(Serialize(*result), c.result) << c.name;
  }
}

TEST(StrategicMergePatch, RemovesMostOfALargeMap) {
  json::object labels, removed;
  for (int i = 0; i < 3000; ++i) {
    labels[fmt::format("k{}", i)] = "v";
    if (i % 1000 != 7) removed[fmt::format("k{}", i)] = nullptr;
  }
  const Json document{{"metadata", {{"labels", labels}}}};
  const Json patch{{"metadata", {{"labels", removed}}}};
  EXPECT_EQ(Serialize(Apply("Pod", Serialize(document), Serialize(patch)).value()),
            R"({"metadata":{"labels":{"k7":"v","k1007":"v","k2007":"v"}}})");
}

TEST(StrategicMergePatch, Lists) {
  Check({
      {"update, delete and add by key", "Pod",
       R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"b","$patch":"delete"},)"
       R"({"name":"c"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"c"}]}})"},
      {"new elements come before those that only the live list has", "Pod",
       R"({"spec":{"volumes":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"volumes":[{"name":"c","emptyDir":{}}]}})",
       R"({"spec":{"volumes":[{"name":"c","emptyDir":{}},{"name":"a"},{"name":"b"}]}})"},
      {"tolerations are atomic", "Pod", R"({"spec":{"tolerations":[{"key":"a"},{"key":"b"}]}})",
       R"({"spec":{"tolerations":[{"key":"c"}]}})", R"({"spec":{"tolerations":[{"key":"c"}]}})"},
      {"scalars are a set", "Pod", R"({"metadata":{"finalizers":["x","y"]}})",
       R"({"metadata":{"finalizers":["z","y","z"]}})",
       R"({"metadata":{"finalizers":["z","x","y"]}})"},
      {"scalars are deleted by value", "Pod", R"({"metadata":{"finalizers":["x","y"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["x","nothing"]}})",
       R"({"metadata":{"finalizers":["y"]}})"},
      {"deleting scalars from nothing", "Pod", R"({"metadata":{}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["x"]}})", R"({"metadata":{}})"},
      {"delete removes every element with the key", "Pod",
       R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"},{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})"},
      {"replace takes the patch's elements", "Pod",
       R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"c"},{"$patch":"replace"},{"name":"d"}]}})",
       R"({"spec":{"containers":[{"name":"c"},{"name":"d"}]}})"},
      {"the first of several matches is merged", "Pod",
       R"({"spec":{"containers":[{"name":"a"},{"name":"a","image":"2"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"1"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"a","image":"2"}]}})"},
      {"keys may be numbers", "Service",
       R"({"spec":{"ports":[{"port":80,"name":"a"},{"port":443}]}})",
       R"({"spec":{"ports":[{"port":80,"name":"b"}]}})",
       R"({"spec":{"ports":[{"port":80,"name":"b"},{"port":443}]}})"},
      {"lists in lists", "Pod",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"x","value":"1"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"y"},{"name":"x","value":"2"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"y"},{"name":"x","value":"2"}]}]}})"},
      {"a list that was not there", "Pod", R"({"spec":{}})",
       R"({"spec":{"containers":[{"name":"a","image":null,"env":[{"name":"x","value":null},null],)"
       R"("$retainKeys":["name"]},{"name":"b","$patch":"delete"}]}})",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"x"},null]}]}})"},
      {"conditions by type", "Node",
       R"({"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Other"}]}})",
       R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})",
       R"({"status":{"conditions":[{"type":"Ready","status":"False"},{"type":"Other"}]}})"},
      {"a live element without the key stays", "Pod",
       R"({"spec":{"containers":[{"image":"x"},{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"y"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"y"},{"image":"x"}]}})"},
  });
}

TEST(StrategicMergePatch, Maps) {
  Check({
      {"members merge and null deletes", "Pod",
       R"({"metadata":{"labels":{"a":"1","b":"2"},"name":"p"}})",
       R"({"metadata":{"labels":{"a":null,"c":"3"}}})",
       R"({"metadata":{"labels":{"b":"2","c":"3"},"name":"p"}})"},
      {"$patch replace", "Pod", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
       R"({"metadata":{"labels":{"$patch":"replace","c":"3"}}})",
       R"({"metadata":{"labels":{"c":"3"}}})"},
      {"$patch delete", "Pod", R"({"metadata":{"labels":{"a":"1"},"name":"p"}})",
       R"({"metadata":{"labels":{"$patch":"delete"}}})",
       R"({"metadata":{"labels":{},"name":"p"}})"},
      {"a map that was not there loses nulls and directives", "Pod", R"({})",
       R"({"metadata":{"labels":{"a":null,"b":"2"},"annotations":{"$patch":"replace","x":"y"}}})",
       R"({"metadata":{"labels":{"b":"2"},"annotations":{"x":"y"}}})"},
      {"another JSON type replaces", "Pod", R"({"metadata":{"labels":"text"}})",
       R"({"metadata":{"labels":{"a":"1","b":null}}})", R"({"metadata":{"labels":{"a":"1"}}})"},
      {"a selector with strategy replace", "PodDisruptionBudget",
       R"({"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"1"}}}})",
       R"({"spec":{"selector":{"matchLabels":{"b":"2"}}}})",
       R"({"spec":{"minAvailable":1,"selector":{"matchLabels":{"b":"2"}}}})"},
      {"a selector without it", "Deployment", R"({"spec":{"selector":{"matchLabels":{"a":"1"}}}})",
       R"({"spec":{"selector":{"matchLabels":{"b":"2"}}}})",
       R"({"spec":{"selector":{"matchLabels":{"a":"1","b":"2"}}}})"},
      {"$retainKeys", "Deployment",
       R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})",
       R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate","rollingUpdate":null}}})",
       R"({"spec":{"strategy":{"type":"Recreate"}}})"},
      {"$retainKeys in a list element", "Pod",
       R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/x"}}]}})",
       R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","emptyDir"],"emptyDir":{}}]}})",
       R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})"},
      {"members without a known type merge too", "Pod", R"({"foo":{"a":1,"l":[1]}})",
       R"({"foo":{"b":2,"l":[2]}})", R"({"foo":{"a":1,"l":[2],"b":2}})"},
      {"numbers replace numbers", "Deployment", R"({"spec":{"replicas":1}})",
       R"({"spec":{"replicas":18446744073709551615}})",
       R"({"spec":{"replicas":18446744073709551615}})"},
      {"nothing", "Pod", R"({"spec":{"nodeName":"a"}})", R"({})", R"({"spec":{"nodeName":"a"}})"},
  });
}

// Containers by name: "a,b" for [{"name":"a"},{"name":"b"}]; "-a" in a patch deletes a.
std::string Containers(std::string_view names) {
  std::string list;
  for (const char c : names) {
    if (c == ',' || c == '-') continue;
    if (!list.empty()) list += ",";
    const bool doomed = names.find(std::string("-") + c) != std::string_view::npos;
    list += fmt::format(R"({{"name":"{}"{}}})", c, doomed ? R"(,"$patch":"delete")" : "");
  }
  return "[" + list + "]";
}

struct OrderCase {
  const char* live;
  const char* order;  // null: without $setElementOrder
  const char* patch;  // null: no list in the patch
  const char* result;
};

TEST(StrategicMergePatch, Order) {
  const OrderCase cases[] = {
      {"1,4", "2,3", "2,3,-1", "4,2,3"},
      {"1,4", nullptr, "2,3,-1", "2,3,4"},
      {"a,b,c", "c,a", nullptr, "b,c,a"},
      {"a,s", "b", "b,-a", "s,b"},
      {"a,b,c,d", "y,x,d", "y,x,-b", "a,c,y,x,d"},
      {"a,b", nullptr, "c", "c,a,b"},
      {"a,b", nullptr, "b,a", "b,a"},
      {"a,b,c", nullptr, "c,a", "b,c,a"},
      {"a,b,c", nullptr, "b", "a,b,c"},
      {"a,b", "c,a", "c", "c,a,b"},
      {"a,b", "a,c", "c", "a,c,b"},
      {"", "b,a", "b,a", "b,a"},
      {"a,b", "b,a", "", "b,a"},
      {"a,b", "x,y", nullptr, "a,b"},
  };
  for (const OrderCase& c : cases) {
    std::string patch;
    if (c.order != nullptr) patch = R"("$setElementOrder/containers":)" + Containers(c.order);
    if (c.patch != nullptr) {
      if (!patch.empty()) patch += ",";
      patch += R"("containers":)" + Containers(c.patch);
    }
    const StatusOr<Json> result =
        Apply("Pod", R"({"spec":{"containers":)" + Containers(c.live) + "}}",
              R"({"spec":{)" + patch + "}}");
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(Serialize(*result), R"({"spec":{"containers":)" + Containers(c.result) + "}}")
        << c.live << " + " << patch;
  }
}

TEST(StrategicMergePatch, OrderOfOtherLists) {
  Check({
      {"scalars", "Pod", R"({"metadata":{"finalizers":["a","b","c"]}})",
       R"({"metadata":{"$setElementOrder/finalizers":["c","d","a"],"finalizers":["d"]}})",
       R"({"metadata":{"finalizers":["b","c","d","a"]}})"},
      {"scalars, ordered and deleted", "Pod", R"({"metadata":{"finalizers":["x","y"]}})",
       R"({"metadata":{"$setElementOrder/finalizers":["y"],)"
       R"("$deleteFromPrimitiveList/finalizers":["x"]}})",
       R"({"metadata":{"finalizers":["y"]}})"},
      {"a list that was not there", "Pod", R"({"spec":{}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],)"
       R"("containers":[{"name":"b","image":null},{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"b"},{"name":"a"}]}})"},
      {"no list at all", "Pod", R"({"spec":{}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"b"}]}})", R"({"spec":{}})"},
      {"an atomic list", "Pod", R"({"spec":{"tolerations":[{"key":"a"}]}})",
       R"({"spec":{"$setElementOrder/tolerations":[{"key":"b"}],"tolerations":[{"key":"b"}]}})",
       R"({"spec":{"tolerations":[{"key":"b"}]}})"},
      {"null deletes the list", "Pod", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"$setElementOrder/containers":[],"containers":null}})", R"({"spec":{}})"},
  });
}

struct ErrorCase {
  const char* document;
  const char* patch;
  int code;
  const char* reason;
  const char* message;  // how it starts
};

TEST(StrategicMergePatch, Errors) {
  constexpr char kGeneric[] = "the server rejected our request due to an error in our request";
  const ErrorCase cases[] = {
      {R"({})", R"([])", 400, "BadRequest", "error decoding patch"},
      {R"({"metadata":{"labels":{}}})", R"({"metadata":{"labels":{"$patch":"foo"}}})", 500, "",
       "unknown patch type: foo in map: "},
      {R"({"metadata":{"labels":{}}})", R"({"metadata":{"labels":{"$patch":1}}})", 500, "",
       "unknown patch type: 1 in map: "},
      {R"({"spec":{"containers":[]}})", R"({"spec":{"containers":[{"name":"a","$patch":"foo"}]}})",
       500, "", "unknown patch type: foo in map: "},
      {R"({"spec":{"containers":[]}})", R"({"spec":{"containers":[{"image":"a"}]}})", 500, "",
       R"(map: {"image":"a"} does not contain declared merge key: name)"},
      {R"({"spec":{"containers":[]}})", R"({"spec":{"containers":[{"$patch":"delete"}]}})", 500, "",
       R"(map: {"$patch":"delete"} does not contain declared merge key: name)"},
      {R"({"spec":{"containers":[]}})", R"({"spec":{"containers":["a"]}})", 500, "",
       R"(map: "a" does not contain declared merge key: name)"},
      {R"({"spec":{"containers":[]}})",
       R"({"spec":{"containers":[{"name":"a"},{"name":"b"}],)"
       R"("$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}})",
       500, "", "The order in patch list: "},
      {R"({"spec":{"containers":[]}})",
       R"({"spec":{"containers":[{"name":"a"}],"$setElementOrder/containers":[{"name":"b"}]}})",
       500, "", "The order in patch list: "},
      {R"({"spec":{"volumes":[{"name":"v"}]}})",
       R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name"],"emptyDir":{}}]}})", 422,
       "Invalid", kGeneric},
      {R"({"spec":{"volumes":[{"name":"v"}]}})",
       R"({"spec":{"volumes":[{"name":"v","$retainKeys":"name"}]}})", 400, "BadRequest",
       "invalid patch format of retainKeys"},
      {R"({"spec":{"volumes":[{"name":"v"}]}})",
       R"({"spec":{"volumes":[{"name":"v","$retainKeys":[1]}]}})", 400, "BadRequest",
       "invalid patch format of retainKeys"},
      {R"({"spec":{"containers":[]}})", R"({"spec":{"$setElementOrder/containers":"a"}})", 400,
       "BadRequest", "invalid patch format of setElementOrder list"},
      {R"({"spec":{"containers":{}}})", R"({"spec":{"$setElementOrder/containers":[]}})", 400,
       "BadRequest", "invalid patch format of setElementOrder list"},
      {R"({"metadata":{"finalizers":[]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":"a"}})", 400, "BadRequest",
       "invalid patch format of primitive list"},
      {R"({"metadata":{"finalizers":{}}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})", 400, "BadRequest",
       "invalid patch format of primitive list"},
  };
  for (const ErrorCase& c : cases) {
    const auto error = AsApiError(Apply("Pod", c.document, c.patch).status());
    ASSERT_TRUE(error) << c.patch;
    EXPECT_EQ(error->code, c.code) << c.patch;
    EXPECT_EQ(error->reason, c.reason) << c.patch;
    EXPECT_THAT(error->message, StartsWith(c.message)) << c.patch;
  }
}

TEST(StrategicMergePatch, LargeListsTakeLinearTime) {
  const auto containers = [](const char* image) {
    json::array list;
    for (int i = 0; i < 20'000; ++i) {
      list.push_back(json::object{{"name", fmt::format("c{}", i)}, {"image", image}});
    }
    return list;
  };
  json::object spec;
  spec["$setElementOrder/containers"] = containers("");
  spec["containers"] = containers("2");
  Json patch;
  At(patch, {"spec"}) = std::move(spec);
  Json pod;
  At(pod, {"spec", "containers"}) = containers("1");
  const StatusOr<Json> result = ApplyStrategicMergePatch(pod, patch, *FindBuiltinType("v1", "Pod"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(FindArray(*result, {"spec", "containers"})->size(), 20'000u);
}

}  // namespace
}  // namespace koord::kube::strategic_merge_patch_test
