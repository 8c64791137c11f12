#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "localcluster/apiserver/apply/field_set.h"
#include "localcluster/apiserver/apply/managed_fields.h"

namespace koord::apiserver {

inline constexpr std::string_view kApplyOperation = "Apply";  // the operation of those who apply

// One entry of metadata.managedFields.
struct Manager {
  std::string manager;
  std::string operation;  // Apply or Update
  std::string api_version;
  std::string subresource;
  std::string time;  // may be empty
  FieldSet fields;

  // What an entry says but for its fields.
  static Manager Of(const kube::Json& entry);

  bool applies() const { return operation == kApplyOperation; }
  bool Is(const FieldWriter& writer, std::string_view operation) const;
};

// The owners of one object's fields.
class Managers {
 public:
  Managers() = default;
  // Entries as this server has written them.
  static Managers Trusted(kube::Json managed_fields);
  // A copy of such entries, but for the fields of whoever is about to apply others.
  static Managers BeforeApply(const kube::Json& managed_fields, const FieldWriter& applier,
                              const kube::json::storage_ptr& memory);
  // Entries as a client sends them; fails if one cannot be understood.
  static StatusOr<Managers> Parse(const kube::Json& managed_fields);

  std::vector<Manager>& list() { return list_; }
  const std::vector<Manager>& list() const { return list_; }
  bool empty() const { return list_.empty(); }

  // The writer's entry; null if it owns nothing yet.
  Manager* Find(const FieldWriter& writer, std::string_view operation);
  Manager& FindOrAdd(const FieldWriter& writer, std::string_view operation);

  // Drops entries without fields, merges the oldest of too many, and orders the rest.
  void Tidy();
  kube::json::array ToJson(const kube::json::storage_ptr& memory = {}) &&;

 private:
  void MergeOldest();

  std::vector<Manager> list_;
};

}  // namespace koord::apiserver
