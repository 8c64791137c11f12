#include "base/strong_index.h"

#include <absl/container/flat_hash_set.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace koord::strong_index_test {
namespace {

using Row = StrongIndex<struct RowTag>;
using Cpu = StrongIndex<struct CpuTag>;

static_assert(sizeof(Row) == sizeof(uint32_t));
static_assert(std::is_trivially_copyable_v<Row>);
// What it cannot be mistaken for.
static_assert(!std::is_convertible_v<int, Row>);
static_assert(!std::is_convertible_v<size_t, Row>);
static_assert(!std::is_convertible_v<Cpu, Row>);
static_assert(!std::is_assignable_v<Row&, size_t>);
static_assert(!std::is_assignable_v<Row&, Cpu>);

TEST(StrongIndexTest, WalksOverAnArray) {
  const std::vector<int> column = {10, 20, 30, 40};
  int sum = 0;
  for (Row row{1}; row < column.size(); ++row) sum += column[row];
  EXPECT_EQ(sum, 90);
  Row row{0};
  row += 2;
  EXPECT_EQ(column[row], 30);
  EXPECT_EQ(row - Row(1), 1u);
}

TEST(StrongIndexTest, IsFoundInSetsAndSorted) {
  std::vector<Row> rows = {Row(3), Row(1), Row(2)};
  std::ranges::sort(rows);
  EXPECT_EQ(rows, (std::vector{Row(1), Row(2), Row(3)}));
  const absl::flat_hash_set<Row> set(rows.begin(), rows.end());
  EXPECT_TRUE(set.contains(Row(2)));
  EXPECT_FALSE(set.contains(Row(4)));
}

}  // namespace
}  // namespace koord::strong_index_test
