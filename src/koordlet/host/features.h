#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "koordlet/host/host.h"

namespace koord::koordlet {

// Something that koordlet can do only where the machine can.
struct Feature {
  std::string_view name;     // "cpu-burst"
  std::string_view meaning;  // "static CPU burst"
  bool available = false;
  std::string why_not;       // "kubepods/cpu.cfs_burst_us is missing"; empty if available
  std::string_view without;  // what happens instead

  bool operator==(const Feature&) const = default;
};

// What this machine has of it, in a fixed order. Looks at files and asks the kernel, changes
// nothing. Nothing that is missing is an error: strategies that need it rest.
std::vector<Feature> DetectFeatures(Host& host);

// A table for people, a line each.
std::string PrintFeatures(const std::vector<Feature>& features);

}  // namespace koord::koordlet
