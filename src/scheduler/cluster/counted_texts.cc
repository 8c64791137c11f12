#include "scheduler/cluster/counted_texts.h"

#include <limits>
#include <utility>

namespace koord::scheduler {

struct CountedTexts::Table {
  static constexpr uint32_t kForEver = std::numeric_limits<uint32_t>::max();

  Id Of(std::string_view text) {
    if (const auto found = ids.find(text); found != ids.end()) return found->second;
    Id id;
    if (free.empty()) {
      id = static_cast<Id>(texts.size());
      texts.emplace_back(text);
      holds.push_back(0);
    } else {
      id = free.back();
      free.pop_back();
      texts[id] = text;
    }
    ids.emplace(text, id);
    return id;
  }

  void Release(Id id) {
    if (holds[id] == kForEver || --holds[id] != 0) return;
    ids.erase(texts[id]);
    texts[id] = std::string();
    free.push_back(id);
  }

  std::vector<std::string> texts;
  std::vector<uint32_t> holds;  // how many have it; kForEver
  std::vector<Id> free;
  StringMap<Id> ids;
};

CountedTexts::Hold& CountedTexts::Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  Release();
  table_ = std::move(other.table_);
  ids_ = std::move(other.ids_);
  other.ids_.clear();
  return *this;
}

void CountedTexts::Hold::Release() {
  if (table_ == nullptr) return;
  for (const Id id : ids_) table_->Release(id);
  ids_.clear();
  table_.reset();
}

CountedTexts::CountedTexts() : table_(std::make_shared<Table>()) {}

CountedTexts::Id CountedTexts::Intern(std::string_view text, Hold& hold) {
  const Id id = table_->Of(text);
  if (table_->holds[id] == Table::kForEver) return id;
  ++table_->holds[id];
  hold.table_ = table_;
  hold.ids_.push_back(id);
  return id;
}

CountedTexts::Id CountedTexts::Intern(std::string_view text) {
  const Id id = table_->Of(text);
  table_->holds[id] = Table::kForEver;
  return id;
}

std::optional<CountedTexts::Id> CountedTexts::Find(std::string_view text) const {
  const auto found = table_->ids.find(text);
  if (found == table_->ids.end()) return {};
  return found->second;
}

const std::string& CountedTexts::TextOf(Id id) const { return table_->texts[id]; }
size_t CountedTexts::size() const { return table_->texts.size(); }
size_t CountedTexts::used() const { return table_->ids.size(); }

}  // namespace koord::scheduler
