#include "localcluster/controllers/common/template_hash.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace koord::localcluster {
namespace {

class Fnv {
 public:
  void Add(std::string_view bytes) {
    for (unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 16777619u;
  }
  uint32_t value() const { return hash_; }

 private:
  uint32_t hash_ = 2166136261u;
};

// Members in the order of their names, so that equal documents hash alike.
void AddCanonically(const kube::Json& value, Fnv& hash) {
  if (const kube::json::object* object = value.if_object()) {
    std::vector<std::string_view> names;
    for (const auto& member : *object) names.emplace_back(member.key());
    std::sort(names.begin(), names.end());
    hash.Add("{");
    for (std::string_view name : names) {
      hash.Add(kube::Serialize(kube::Json(name)));
      AddCanonically(*object->if_contains(name), hash);
    }
    hash.Add("}");
  } else if (const kube::json::array* array = value.if_array()) {
    hash.Add("[");
    for (const kube::Json& item : *array) AddCanonically(item, hash);
    hash.Add("]");
  } else {
    hash.Add(kube::Serialize(value));
    hash.Add(",");
  }
}

}  // namespace

std::string HashName(const kube::Json& document, std::optional<int32_t> collisions) {
  // No vowels, no 0, 1 and 3: nothing that reads as a word or is misread.
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  Fnv hash;
  AddCanonically(document, hash);
  if (collisions) hash.Add(std::to_string(*collisions));
  std::string name = std::to_string(hash.value());
  for (char& digit : name) digit = kAlphabet[static_cast<size_t>(digit) % kAlphabet.size()];
  return name;
}

kube::Json WithoutTemplateHash(const kube::Json& pod_template) {
  kube::Json without = pod_template;
  if (kube::Json* labels = kube::Find(without, {"metadata", "labels"})) {
    if (labels->is_object()) labels->as_object().erase(kPodTemplateHash);
  }
  return without;
}

}  // namespace koord::localcluster
