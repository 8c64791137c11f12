#include "program/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>

#include "base/duration.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "base/version.h"

namespace koord::program {
namespace {

constexpr size_t kHelpWidth = 100;

struct Flag {
  std::string names;  // "-v,--v"
  std::string type;   // empty for a switch
  std::string initial;
  std::string help;
  const Flags::Group* group = nullptr;  // none: accepted without effect
  std::function<Status(const std::vector<std::string>&)> set;
  CLI::Option* option = nullptr;

  std::string long_name() const { return names.substr(names.find("--")); }
};

std::function<Status(const std::vector<std::string>&)> Last(Flags::Parse parse) {
  return [parse = std::move(parse)](const std::vector<std::string>& values) {
    return parse(values.back());
  };
}

std::function<Status(const std::vector<std::string>&)> Each(Flags::Parse parse) {
  return [parse = std::move(parse)](const std::vector<std::string>& values) {
    for (const std::string& value : values) RETURN_IF_ERROR(parse(value));
    return absl::OkStatus();
  };
}

StatusOr<double> ParseNumber(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return InvalidArgument("must be a number");
  }
  return number;
}

void AppendWrapped(std::string& out, std::string_view text, size_t indent) {
  size_t column = kHelpWidth;
  for (const std::string_view word : Split(text, ' ')) {
    if (word.empty()) continue;
    if (column + 1 + word.size() > kHelpWidth) {
      out += fmt::format("{}{:{}}", out.empty() || out.back() == '\n' ? "" : "\n", "", indent);
      column = indent;
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

std::string QuotedList(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : " ") + Quote(word);
  return list;
}

}  // namespace

StatusOr<bool> ParseBool(std::string_view text) {
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return InvalidArgument("must be true or false");
}

struct Flags::Impl {
  int usage_exit_code = 1;  // what Kubernetes' programs exit with
  std::string program, description;
  CLI::App app;
  std::deque<Group> groups;
  std::deque<Flag> flags;
  std::vector<std::function<Status()>> checks;
  bool help = false;
  std::string version = "false";

  Flag* Find(std::string_view long_name) {
    const auto it = std::find_if(flags.begin(), flags.end(),
                                 [&](const Flag& flag) { return flag.long_name() == long_name; });
    return it == flags.end() ? nullptr : &*it;
  }

  void Add(Flag flag) {
    if (flag.type.empty()) {
      flag.option = app.add_flag(flag.names);
    } else {
      flag.option = app.add_option(flag.names);
    }
    flag.option->take_all();
    flags.push_back(std::move(flag));
  }

  // As CLI11 reads them.
  std::vector<std::string> Normalize(const std::vector<std::string>& arguments);
  Status Read(const std::vector<std::string>& arguments);
  Status CheckRest(const std::vector<std::string>& arguments);
  Status SetAll();
  Status UnknownFlag(std::string_view argument);
};

std::vector<std::string> Flags::Impl::Normalize(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      out.insert(out.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    }
    const size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    const size_t dashes = name.find_first_not_of('-');
    if (dashes == std::string::npos || dashes == 0 || dashes > 2) {
      out.push_back(argument);
      continue;
    }
    name = "--" + name.substr(dashes);
    std::replace(name.begin(), name.end(), '_', '-');
    const Flag* flag = Find(name);
    if (flag == nullptr) {  // "-s=3" of a short name, or a mistake
      out.push_back(dashes == 1 && equals == 2 ? argument.substr(0, 2) + argument.substr(3)
                                               : argument);
      continue;
    }
    if (flag->type.empty()) {
      out.push_back(equals == std::string::npos ? name : name + argument.substr(equals));
      continue;
    }
    // Two words, so that an empty value is one.
    out.push_back(std::move(name));
    if (equals != std::string::npos) {
      out.push_back(argument.substr(equals + 1));
    } else if (i + 1 < arguments.size()) {
      out.push_back(arguments[++i]);
    }
  }
  return out;
}

Status Flags::Impl::Read(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = Normalize(arguments);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return InvalidArgument("{}", error.what());
  }
  RETURN_IF_ERROR(CheckRest(app.remaining()));
  return SetAll();
}

Status Flags::Impl::CheckRest(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.starts_with('-')) return UnknownFlag(argument);
  }
  // Templates of manifests leave empty words behind.
  if (std::all_of(arguments.begin(), arguments.end(), std::mem_fn(&std::string::empty))) {
    return absl::OkStatus();
  }
  return InvalidArgument("{} does not take any arguments, got [{}]", Quote(program),
                         QuotedList(arguments));
}

Status Flags::Impl::UnknownFlag(std::string_view argument) {
  const std::string name(argument.substr(0, argument.find('=')));
  std::vector<std::string> candidates;
  for (const Flag& flag : flags) candidates.push_back(flag.long_name());
  const auto meant = Suggest(name, candidates);
  return InvalidArgument("unknown flag: {}{}", name,
                         meant ? "\nDid you mean " + *meant + "?" : std::string());
}

Status Flags::Impl::SetAll() {
  for (const Flag& flag : flags) {
    if (flag.option->count() == 0 || !flag.set) continue;
    const auto& values = flag.option->results();
    if (const Status status = flag.set(values); !status.ok()) {
      return InvalidArgument("invalid argument {} for {} flag: {}", Quote(values.back()),
                             Quote(flag.long_name()), Message(status));
    }
  }
  return absl::OkStatus();
}

Flags::Group& Flags::Group::Bool(std::string_view name, bool& value, std::string_view help) {
  flags_.impl_->Add({.names = std::string(name),
                     .type = "",
                     .initial = value ? "true" : "false",
                     .help = std::string(help),
                     .group = this,
                     .set = Last([&value](std::string_view text) -> Status {
                       ASSIGN_OR_RETURN(value, ParseBool(text));
                       return absl::OkStatus();
                     })});
  return *this;
}

Flags::Group& Flags::Group::Int(std::string_view name, int& value, std::string_view help) {
  return Custom(name, "int", std::to_string(value), help, [&value](std::string_view text) {
    const auto number = ParseInt(text);
    if (!number || *number > std::numeric_limits<int>::max() ||
        *number < std::numeric_limits<int>::min()) {
      return InvalidArgument("must be a whole number");
    }
    value = static_cast<int>(*number);
    return absl::OkStatus();
  });
}

Flags::Group& Flags::Group::Number(std::string_view name, double& value, std::string_view help) {
  return Custom(name, "number", fmt::format("{}", value), help,
                [&value](std::string_view text) -> Status {
                  ASSIGN_OR_RETURN(value, ParseNumber(text));
                  return absl::OkStatus();
                });
}

Flags::Group& Flags::Group::Text(std::string_view name, std::string& value, std::string_view help) {
  return Custom(name, "string", value, help, [&value](std::string_view text) {
    value = text;
    return absl::OkStatus();
  });
}

Flags::Group& Flags::Group::Time(std::string_view name, Duration& value, std::string_view help) {
  return Custom(name, "duration", FormatDuration(value), help,
                [&value](std::string_view text) -> Status {
                  ASSIGN_OR_RETURN(value, ParseDuration(text));
                  return absl::OkStatus();
                });
}

Flags::Group& Flags::Group::List(std::string_view name, std::vector<std::string>& value,
                                 std::string_view help) {
  flags_.impl_->Add({.names = std::string(name),
                     .type = "strings",
                     .initial = Join(value, ","),
                     .help = std::string(help),
                     .group = this,
                     .set = [&value](const std::vector<std::string>& texts) {
                       value.clear();
                       for (const std::string& text : texts) {
                         for (const std::string_view part : Split(text, ',')) {
                           if (!Trim(part).empty()) value.emplace_back(Trim(part));
                         }
                       }
                       return absl::OkStatus();
                     }});
  return *this;
}

Flags::Group& Flags::Group::Custom(std::string_view name, std::string_view type,
                                   std::string_view initial, std::string_view help, Parse parse) {
  flags_.impl_->Add({.names = std::string(name),
                     .type = std::string(type),
                     .initial = std::string(initial),
                     .help = std::string(help),
                     .group = this,
                     .set = Each(std::move(parse))});
  return *this;
}

Flags::Flags(std::string program, std::string description) : impl_(std::make_unique<Impl>()) {
  impl_->program = std::move(program);
  impl_->description = std::move(description);
  impl_->app.set_help_flag();
  impl_->app.allow_extras();
  Group& global = AddGroup("Global");
  global.Bool("-h,--help", impl_->help, "Print this help and exit.");
  impl_->Add({.names = "--version",
              .type = "",
              .initial = "false",
              .help = "Print the version and exit; --version=raw prints nothing but it.",
              .group = &global,
              .set = Last([this](std::string_view text) -> Status {
                if (text != "raw") RETURN_IF_ERROR(ParseBool(text).status());
                impl_->version = text;
                return absl::OkStatus();
              })});
}
Flags::~Flags() = default;

const std::string& Flags::program() const { return impl_->program; }

Flags::Group& Flags::AddGroup(std::string_view title) {
  for (Group& group : impl_->groups) {
    if (group.title_ == title) return group;
  }
  impl_->groups.push_back(Group(*this, std::string(title)));
  return impl_->groups.back();
}

void Flags::Accept(std::initializer_list<std::string_view> values,
                   std::initializer_list<std::string_view> bools) {
  for (const std::string_view name : values) {
    impl_->Add({.names = std::string(name), .type = "string"});
  }
  for (const std::string_view name : bools) impl_->Add({.names = std::string(name)});
}

void Flags::SetUsageExitCode(int code) { impl_->usage_exit_code = code; }

void Flags::AddCheck(std::function<Status()> check) { impl_->checks.push_back(std::move(check)); }

Flags::Outcome Flags::Read(int argc, const char* const* argv) {
  return Read(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

Flags::Outcome Flags::Read(std::vector<std::string> arguments) {
  Status status = impl_->Read(arguments);
  if (status.ok() && impl_->help) return {.out = Help()};
  if (status.ok() && impl_->version == "raw") return {.out = fmt::format("{}\n", kVersion)};
  if (status.ok() && *ParseBool(impl_->version)) {
    return {.out = fmt::format("{} {}\n", program(), kVersion)};
  }
  for (const auto& check : impl_->checks) {
    if (status.ok()) status = check();
  }
  if (status.ok()) return {.run = true};
  return {
      .exit_code = impl_->usage_exit_code,
      .err = fmt::format("{0}: {1}\n'{0} --help' lists the flags.\n", program(), Message(status))};
}

bool Flags::IsSet(std::string_view name) const {
  const Flag* flag = impl_->Find(name);
  return flag != nullptr && flag->option->count() > 0;
}

std::vector<std::string> Flags::IgnoredFlags() const {
  std::vector<std::string> names;
  for (const Flag& flag : impl_->flags) {
    if (flag.group == nullptr && flag.option->count() > 0) names.push_back(flag.long_name());
  }
  return names;
}

std::string Flags::Help() const {
  std::string text;
  AppendWrapped(text, impl_->description, 0);
  text += fmt::format("\nUsage:\n  {} [flags]\n", program());
  // The program's own groups before those that all programs have.
  for (size_t i = 1; i <= impl_->groups.size(); ++i) {
    const Group& group = impl_->groups[i % impl_->groups.size()];
    text += fmt::format("\n{} flags:\n", group.title_);
    for (const Flag& flag : impl_->flags) {
      if (flag.group != &group) continue;
      std::string names = flag.names;
      if (const size_t comma = names.find(','); comma != names.npos) names.insert(comma + 1, " ");
      text += fmt::format("  {}{}{}\n", names, flag.type.empty() ? "" : " ", flag.type);
      const bool tells_default = !flag.initial.empty() && flag.initial != "false";
      AppendWrapped(
          text, tells_default ? fmt::format("{} (default {})", flag.help, flag.initial) : flag.help,
          8);
    }
  }
  std::vector<std::string> ignored;
  for (const Flag& flag : impl_->flags) {
    if (flag.group == nullptr) ignored.push_back(flag.long_name());
  }
  if (!ignored.empty()) {
    text += "\nAccepted, without effect:\n";
    AppendWrapped(text, Join(ignored, " "), 2);
  }
  return text;
}

}  // namespace koord::program
