#pragma once
#include <string>
#include <vector>

#include "kube/json.h"

namespace koord::scenario {

// One way in which an object is not what was expected.
struct Mismatch {
  std::string path;      // "status.conditions"
  std::string expected;  // as one line of JSON
  std::string actual;    // likewise; "(absent)" where there is nothing
};

// Compares an object with the part of it that a scenario states.
//
// Objects match by subset: only stated members count, and a stated null means that the member must
// be absent. Lists match by containment: each stated element must be found, in any order. A string
// between slashes is a regular expression that must be found in the text. A number also matches a
// string that spells it, since people write `cpu: 4` where Kubernetes says "4".
std::vector<Mismatch> Match(const kube::Json& expected, const kube::Json& actual);

// "/text/" or the text itself.
bool MatchText(std::string_view expected, std::string_view actual);

}  // namespace koord::scenario
