#pragma once
#include <cstdint>
#include <span>

namespace koord::model {

// Divides an amount among NUMA nodes, in shares of whole units, as evenly as what each has allows:
// from the one that has least to the one that has most, an equal part of what is left. Nodes that
// have the same are taken in their order. Returns what could not be given.
int64_t DivideAmongNodes(int64_t amount, int64_t unit, std::span<const int64_t> available,
                         std::span<int64_t> shares);

}  // namespace koord::model
