#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/status.h"

namespace koord::koordlet {

// What koordlet leaves on a machine beyond its own life: which features have written to it, and
// what settings of the kernel were before. Kept in a small file that goes when the machine
// restarts, as does what was written to the kernel; so a koordlet with other switches can put
// things back.
class Footprint {
 public:
  // Without a path nothing is remembered. A file that is broken counts as none.
  explicit Footprint(std::string path = "");

  using Features = std::set<std::string, std::less<>>;
  const Features& features() const { return features_; }
  void SetFeatures(Features features);

  // None: koordlet has not changed it.
  std::optional<std::string> Before(std::string_view setting) const;
  void Remember(std::string_view setting, std::string_view value);
  void Forget(std::string_view setting);
  // Settings that begin with this.
  std::map<std::string, std::string, std::less<>> AllBefore(std::string_view prefix) const;

 private:
  void Load();
  void Save();

  const std::string path_;
  Features features_;
  std::map<std::string, std::string, std::less<>> before_;
};

}  // namespace koord::koordlet
