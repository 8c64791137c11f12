#pragma once
#include "kube/json.h"

namespace koord::apiserver {

// Whether a LabelSelector (matchLabels and matchExpressions) finds an object with these labels. An
// empty selector finds everything, one with an unknown operator nothing.
bool SelectorMatches(const kube::Json& selector, const kube::Json& labels);

}  // namespace koord::apiserver
