#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/status.h"

namespace koord::koordlet {

// What koordlet leaves on a machine beyond its own life: which features have written to it, and
// what settings of the kernel were before. Kept in a small file that goes when the machine
// restarts, as does what was written to the kernel; so a koordlet with other switches can put
// things back.
class UndoFile {
 public:
  using Features = std::set<std::string, std::less<>>;
  // What the file holds.
  struct Content {
    struct Held {
      std::string before;
      std::set<std::string, std::less<>> owners;
    };
    Features features;
    std::map<std::string, Held, std::less<>> held;  // by setting
  };
  // Whatever of it makes no sense is left out.
  static StatusOr<Content> Parse(std::string_view text);

  // Without a path nothing is remembered. A file that is broken counts as none.
  explicit UndoFile(std::string path = "");

  const Features& features() const { return content_.features; }
  void SetFeatures(Features features);

  // Several features may change one setting: what was before the first is put back after the last.
  using Settings = std::map<std::string, std::string, std::less<>>;
  bool Holds(std::string_view setting, std::string_view owner) const;
  // Of all settings of the owner that begin with this: what was before.
  Settings HeldBy(std::string_view owner, std::string_view prefix) const;
  void Hold(std::string_view setting, std::string_view owner, std::string_view before);
  // The owner is done with it. First comes, where nobody else needs it, `put_back` with what was
  // before; while that fails the owner is not done.
  void Release(std::string_view setting, std::string_view owner,
               const std::function<bool(const std::string& before)>& put_back);

 private:
  void Load();
  void Save();

  const std::string path_;
  Content content_;
};

}  // namespace koord::koordlet
