#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"

namespace koord::program {

// A program's command line, read as Kubernetes' programs read theirs: --flag=value or --flag value,
// --flag for --flag=true, the last one wins, underscores are as good as dashes, and -flag does for
// --flag. The help lists flags by group. A mistake is answered with what was meant, if that can be
// guessed.
class Flags {
 public:
  // Returns an error that says what was expected.
  using Parse = std::function<Status(std::string_view)>;

  // Flags that stand under one heading of the help. Names are "--port" or "-s,--debug-scores"; the
  // value that a variable has when it is added is the default.
  class Group {
   public:
    Group& Bool(std::string_view name, bool& value, std::string_view help);
    Group& Int(std::string_view name, int& value, std::string_view help);
    Group& Number(std::string_view name, double& value, std::string_view help);
    Group& Text(std::string_view name, std::string& value, std::string_view help);
    Group& Time(std::string_view name, Duration& value, std::string_view help);
    // "a,b", or the flag again; what is given replaces the default.
    Group& List(std::string_view name, std::vector<std::string>& value, std::string_view help);
    // Anything else. `parse` is called for each time that the flag is given.
    Group& Custom(std::string_view name, std::string_view type, std::string_view initial,
                  std::string_view help, Parse parse);

   private:
    friend class Flags;
    Group(Flags& flags, std::string title) : flags_(flags), title_(std::move(title)) {}
    Flags& flags_;
    const std::string title_;
  };

  // What to do after the command line was read.
  struct Outcome {
    bool run = false;  // otherwise print and exit
    int exit_code = 0;
    std::string out, err;
  };

  // `description` opens the help: what the program does, in a few sentences.
  Flags(std::string program, std::string description);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  const std::string& program() const;
  Group& AddGroup(std::string_view title);  // or the one that is there
  // Flags that other implementations of this program know and that mean nothing here.
  void Accept(std::initializer_list<std::string_view> values,
              std::initializer_list<std::string_view> bools = {});
  // Runs when everything was understood; an error ends the program as a wrong flag does.
  void AddCheck(std::function<Status()> check);

  // What a command line that is not understood ends with; 1 unless set.
  void SetUsageExitCode(int code);

  Outcome Read(int argc, const char* const* argv);
  Outcome Read(std::vector<std::string> arguments);

  bool IsSet(std::string_view name) const;  // on the command line: "--port"
  // Of the flags that were set, those without effect.
  std::vector<std::string> IgnoredFlags() const;
  std::string Help() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

StatusOr<bool> ParseBool(std::string_view text);  // as Go does: 1, t, true, ...

}  // namespace koord::program
