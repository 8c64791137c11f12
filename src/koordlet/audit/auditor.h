#pragma once
#include <cstdint>
#include <string>

namespace koord::koordlet {

// Something that koordlet did to the node or a pod.
struct AuditEvent {
  enum class Type : uint8_t { kNode, kPod, kContainer, kGroup };

  Type type = Type::kNode;
  int level = 0;  // higher is less important
  std::string ns;
  std::string name;
  std::string container;
  std::string reason;
  std::string message;
};

class Auditor {
 public:
  virtual ~Auditor() = default;
  virtual void Log(AuditEvent event) = 0;
};

}  // namespace koord::koordlet
