#include "kube/codec.h"

#include <gtest/gtest.h>

#include "kube/quantity.h"
#include "kube/time.h"

namespace koord::kube::codec_test {
namespace {

struct Port {
  std::string name;
  int32_t number = 0;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("number", Always(self.number));
  }
};

struct Thing {
  std::string name;
  bool flag = false;
  int64_t count = 0;
  double ratio = 0;
  std::optional<int32_t> limit;
  std::optional<WallTime> since;
  std::vector<Port> ports;
  std::map<std::string, Quantity> resources;
  Port main_port;
  Json rest;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("flag", self.flag);
    field("count", self.count);
    field("ratio", self.ratio);
    field("limit", self.limit);
    field("since", self.since);
    field("ports", self.ports);
    field("resources", self.resources);
    field("mainPort", self.main_port);
    field("rest", self.rest);
  }
};

TEST(Codec, RoundTrip) {
  const char* text =
      R"({"name":"a","flag":true,"count":-5,"ratio":2.5E-1,"limit":0,)"
      R"("since":"2026-07-01T10:00:00Z","ports":[{"name":"p","number":1},{"number":0}],)"
      R"("resources":{"cpu":"500m"},"mainPort":{"number":80},"rest":{"x":[null]}})";
  const StatusOr<Thing> thing = Decode<Thing>(*ParseJson(text));
  ASSERT_TRUE(thing.ok()) << thing.status();
  EXPECT_EQ(thing->limit, 0);
  EXPECT_EQ(thing->resources.at("cpu").MilliValue(), 500);
  EXPECT_EQ(Serialize(Encode(*thing)), text);
}

TEST(Codec, UnknownMembersAndNullsAreIgnored) {
  const StatusOr<Thing> thing =
      Decode<Thing>(*ParseJson(R"({"other":1,"name":null,"limit":null,"ports":null,"Name":"x"})"));
  ASSERT_TRUE(thing.ok()) << thing.status();
  EXPECT_EQ(thing->name, "");
  EXPECT_EQ(thing->limit, std::nullopt);
}

TEST(Codec, EmptyMembersAreLeftOut) {
  EXPECT_EQ(Serialize(Encode(Thing{})), R"({"mainPort":{"number":0}})");
}

struct ErrorCase {
  const char* text;
  const char* error;
};

TEST(Codec, ErrorsNameThePath) {
  const ErrorCase cases[] = {
      {R"({"name":5})", "name: expected a string, found a number"},
      {R"({"flag":"yes"})", R"(flag: expected a boolean, found "yes")"},
      {R"({"count":1.5})", "count: expected an integer, found a number"},
      {R"({"count":"1"})", R"(count: expected an integer, found "1")"},
      {R"({"limit":4294967296})", "limit: expected a 32-bit integer, found a number"},
      {R"({"ratio":[]})", "ratio: expected a number, found a list"},
      {R"({"ports":[{"name":"a"},{"name":{}}]})",
       "ports[1].name: expected a string, found an object"},
      {R"({"ports":{}})", "ports: expected a list, found an object"},
      {R"({"resources":{"cpu":"x"}})",
       "resources.cpu: quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {R"({"since":"noon"})", R"(since: expected an RFC 3339 time, found "noon")"},
      {R"([])", ": expected an object, found a list"},
  };
  for (const ErrorCase& c : cases) {
    EXPECT_EQ(Message(Decode<Thing>(*ParseJson(c.text)).status()), c.error) << c.text;
  }
}

TEST(Codec, WholeNumbersAreWrittenWithoutExponent) {
  EXPECT_EQ(Serialize(Encode(50.0)), "50");
  EXPECT_EQ(Serialize(Encode(-3.0)), "-3");
  EXPECT_EQ(Decode<double>(Encode(0.5)).value(), 0.5);
  EXPECT_EQ(Decode<double>(Encode(1e300)).value(), 1e300);
}

}  // namespace
}  // namespace koord::kube::codec_test
