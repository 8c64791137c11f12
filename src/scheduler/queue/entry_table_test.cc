#include "scheduler/queue/entry_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"

namespace koord::scheduler::entry_table_test {
namespace {

std::shared_ptr<const kube::Pod> PodOf(int number) {
  auto pod = std::make_shared<kube::Pod>();
  pod->metadata.ns = "default";
  pod->metadata.name = fmt::format("p{}", number);
  pod->metadata.uid = fmt::format("u{}", number);
  return pod;
}

struct Table {
  EntryTable entries;
  std::map<int, QueueEntry*> by_number;
  int next = 0;

  void Add() {
    const auto pod = PodOf(next);
    QueueEntry& entry = entries.Add(pod, EntryTable::Uid(pod->metadata.uid),
                                    EntryTable::Name(pod->metadata.ns, pod->metadata.name));
    by_number.emplace(next++, &entry);
  }
  void Remove(int number) {
    entries.Remove(*by_number.at(number));
    by_number.erase(number);
  }
  void Check() const {
    ASSERT_EQ(entries.size(), by_number.size());
    std::set<uint32_t> ids;
    for (const auto& [number, entry] : by_number) {
      const auto pod = PodOf(number);
      ASSERT_EQ(entries.Find(EntryTable::Uid(pod->metadata.uid)), entry) << number;
      ASSERT_EQ(entries.Find(EntryTable::Name("default", pod->metadata.name)), entry) << number;
      ASSERT_EQ(entry->pod->metadata.uid, pod->metadata.uid);
      ASSERT_TRUE(ids.insert(entry->id).second) << "an id of two";
    }
  }
};

TEST(EntryTableTest, KeepsEntriesApartThroughFloodsAndEbbs) {
  Random random(7);
  Table table;
  for (int tide = 0; tide < 6; ++tide) {
    for (int i = 0; i < 1500; ++i) table.Add();
    table.Check();
    // In any order, down to a few that stay.
    while (table.by_number.size() > 20) {
      auto chosen = table.by_number.begin();
      std::advance(chosen, static_cast<int64_t>(random.Below(table.by_number.size())));
      table.Remove(chosen->first);
      if (random.Below(10) == 0) table.Add();
    }
    table.Check();
  }
  for (const auto& [number, entry] : table.by_number) EXPECT_LT(entry->id, 2048u);
}

TEST(EntryTableTest, UsesAgainWhatWasGivenBack) {
  Table table;
  for (int i = 0; i < 2000; ++i) table.Add();
  for (int i = 0; i < 2000; ++i) table.Remove(i);  // in the order in which they came
  table.Check();
  for (int i = 0; i < 2000; ++i) table.Add();
  table.Check();
  for (const auto& [number, entry] : table.by_number) EXPECT_LT(entry->id, 2048u);
}

}  // namespace
}  // namespace koord::scheduler::entry_table_test
