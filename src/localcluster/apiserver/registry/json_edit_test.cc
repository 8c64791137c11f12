#include "localcluster/apiserver/registry/json_edit.h"

#include <gtest/gtest.h>

#include <new>

namespace koord::apiserver::json_edit_test {
namespace {

// Memory that knows how often it was asked for some.
class CountedMemory final : public json::memory_resource {
 public:
  int asked = 0;

 private:
  void* do_allocate(size_t size, size_t alignment) override {
    ++asked;
    return ::operator new(size, std::align_val_t(alignment));
  }
  void do_deallocate(void* memory, size_t, size_t alignment) override {
    ::operator delete(memory, std::align_val_t(alignment));
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

json::object ParseInto(std::string_view text, CountedMemory& memory) {
  return json::parse(json::string_view(text.data(), text.size()), &memory).as_object();
}

TEST(SameMembersTest, ComparesByValue) {
  struct Case {
    const char* name;
    const char* a;
    const char* b;
    bool same;
  };
  for (const Case& c : {
           Case{"nothing", "{}", "{}", true},
           Case{"another order", R"({"a":1,"b":{"c":[1],"d":2}})", R"({"b":{"d":2,"c":[1]},"a":1})",
                true},
           Case{"one more", R"({"a":1})", R"({"a":1,"b":2})", false},
           Case{"one fewer", R"({"a":1,"b":2})", R"({"a":1})", false},
           Case{"another name", R"({"a":1})", R"({"b":1})", false},
           Case{"another value", R"({"a":{"b":[1,2]}})", R"({"a":{"b":[2,1]}})", false},
       }) {
    CountedMemory memory;
    EXPECT_EQ(SameMembers(ParseInto(c.a, memory), ParseInto(c.b, memory)), c.same) << c.name;
  }
}

// What is nested deeply would otherwise be copied as often as it has levels.
TEST(SameMembersTest, CopiesNothing) {
  std::string deep = R"("a text that is too long to be kept in place")";
  for (int level = 0; level < 12; ++level) deep = R"({"b":[)" + deep + R"(],"a":{}})";
  CountedMemory memory;
  const json::object a = ParseInto(deep, memory);
  const json::object b = ParseInto(deep, memory);
  const int asked = memory.asked;
  ASSERT_GT(asked, 0);
  EXPECT_TRUE(SameMembers(a, b));
  EXPECT_EQ(memory.asked, asked);
}

}  // namespace
}  // namespace koord::apiserver::json_edit_test
