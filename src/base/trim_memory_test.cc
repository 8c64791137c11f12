#include "base/trim_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string_view>

namespace koord::trim_memory_test {
namespace {

struct Shape {
  virtual ~Shape() = default;
  virtual std::string_view name() const = 0;
};
struct Circle final : Shape {
  std::string_view name() const override { return "circle"; }
};
struct Square final : Shape {
  std::string_view name() const override { return "square"; }
};

// Constants that hold addresses are written by the loader: no file has them.
constexpr std::array<std::string_view, 2> kNames{"circle", "square"};

int64_t PagesOfFiles() {
  int64_t size = 0;
  int64_t resident = 0;
  int64_t of_files = 0;
  std::ifstream("/proc/self/statm") >> size >> resident >> of_files;
  return of_files;
}

TEST(TrimMemory, GivesUpWhatIsNotUsed) {
  const int64_t before = PagesOfFiles();
  ASSERT_GT(before, 0);
  TrimMemory();
  EXPECT_LT(PagesOfFiles(), before);
}

TEST(TrimMemory, WhatIsUsedAgainIsAsItWas) {
  const std::array<std::unique_ptr<Shape>, 2> shapes{std::make_unique<Circle>(),
                                                     std::make_unique<Square>()};
  for (int round = 0; round < 2; ++round) {
    TrimMemory();
    for (size_t i = 0; i < shapes.size(); ++i) EXPECT_EQ(shapes[i]->name(), kNames[i]);
  }
}

}  // namespace
}  // namespace koord::trim_memory_test
