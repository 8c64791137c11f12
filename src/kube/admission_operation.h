#pragma once
#include <string_view>

namespace koord::kube {

// What a request that is judged before it is carried out does to an object.
enum class Operation { kCreate, kUpdate, kDelete, kConnect };

std::string_view ToString(Operation operation);  // "CREATE", as AdmissionReviews and rules say

}  // namespace koord::kube
