#pragma once
#include "kube/resource.h"
#include "localcluster/apiserver/registry/strategy.h"

namespace koord::apiserver {

// How a built-in resource lives; resources that ask for nothing special share one plain strategy.
const Strategy& BuiltinStrategy(const kube::Resource& resource);

}  // namespace koord::apiserver
