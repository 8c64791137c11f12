#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace koord::manager::webhook {

// What is wrong with the fields of an object, in Kubernetes' words: one stands as it is, several as
// [a, b], and nothing is said twice.
class FieldErrors {
 public:
  void Invalid(std::string_view field, std::string_view value, std::string_view why);
  void Forbidden(std::string_view field, std::string_view why);
  void Required(std::string_view field, std::string_view why);

  bool empty() const { return errors_.empty(); }
  std::string ToString() const;

 private:
  void Add(std::string error);

  std::vector<std::string> errors_;
};

}  // namespace koord::manager::webhook
