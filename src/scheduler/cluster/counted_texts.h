#pragma once
#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"

namespace koord::scheduler {

// Texts as small numbers. A text keeps its number as long as somebody holds it; then the number is
// given to another one. Whoever writes pods chooses such texts (names of resources, addresses), so
// nothing of them may stay behind when the pods are gone.
class CountedTexts {
  struct Table;

 public:
  using Id = uint32_t;

  // Keeps texts, until it is destroyed. May outlive the table.
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&&) noexcept = default;
    Hold& operator=(Hold&& other) noexcept;
    ~Hold() { Release(); }

   private:
    friend class CountedTexts;
    void Release();

    std::shared_ptr<Table> table_;
    absl::InlinedVector<Id, 4> ids_;
  };

  CountedTexts();

  // The number of a text, for as long as the hold lives or, without one, for ever.
  Id Intern(std::string_view text, Hold& hold);
  Id Intern(std::string_view text);

  std::optional<Id> Find(std::string_view text) const;  // of a text that is held
  const std::string& TextOf(Id id) const;
  size_t size() const;  // ids are below this
  size_t used() const;  // texts that have a number

 private:
  std::shared_ptr<Table> table_;
};

}  // namespace koord::scheduler
