#pragma once
#include <absl/container/flat_hash_set.h>

#include <string>
#include <string_view>
#include <vector>

namespace koord::manager::webhook {

// What is wrong with the fields of an object, in Kubernetes' words: one stands as it is, several as
// [a, b], and nothing is said twice. What is wrong in very many places is not named everywhere.
class FieldErrors {
 public:
  void Invalid(std::string_view field, std::string_view value, std::string_view why);
  void Forbidden(std::string_view field, std::string_view why);
  void Required(std::string_view field, std::string_view why);

  bool empty() const { return errors_.empty(); }
  std::string ToString() const;

 private:
  static constexpr size_t kMostNamed = 50;

  void Add(std::string error);

  std::vector<std::string> errors_;
  absl::flat_hash_set<std::string> known_;
  size_t unnamed_ = 0;
};

}  // namespace koord::manager::webhook
