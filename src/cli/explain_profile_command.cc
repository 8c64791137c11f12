#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/resources.h"
#include "base/text_diff.h"
#include "cli/connection.h"
#include "cli/explain.h"
#include "cli/input_files.h"
#include "cli/terminal.h"
#include "kube/objects/namespace.h"
#include "kube/objects/pod.h"
#include "kube/resources.h"
#include "kube/yaml.h"
#include "manager/profile/profile_explanation.h"
#include "manager/webhook/pod/pod_mutating.h"
#include "manager/webhook/pod/pod_validating.h"

namespace koord::cli {
namespace {

using kube::Json;
using manager::PodOfManifest;
using manager::ProfilesExplanation;
using manager::ProfilesQuestion;

struct ExplainProfileOptions {
  ConnectionOptions connection;
  std::string pod;
  std::vector<std::string> files;
  std::string ns = "default";
  std::string output;
};

// What profiles depend on besides the pod, from a cluster or from files.
struct Surroundings {
  std::vector<manager::ProfilePtr> profiles;
  std::map<std::string, std::shared_ptr<const kube::PriorityClass>, std::less<>> classes;
  std::map<std::string, kube::Labels, std::less<>> namespaces;
  std::vector<std::string> notes;  // what had to be assumed

  Status Add(const Json& object) {
    const std::string_view kind = kube::FindString(object, {"kind"});
    if (kind == "ClusterColocationProfile") {
      ASSIGN_OR_RETURN(auto profile, kube::Decode<api::ClusterColocationProfile>(object));
      profiles.push_back(std::make_shared<const api::ClusterColocationProfile>(std::move(profile)));
    } else if (kind == "PriorityClass") {
      ASSIGN_OR_RETURN(auto found, kube::Decode<kube::PriorityClass>(object));
      const std::string name = found.metadata.name;
      classes[name] = std::make_shared<const kube::PriorityClass>(std::move(found));
    } else if (kind == "Namespace") {
      ASSIGN_OR_RETURN(const auto found, kube::Decode<kube::Namespace>(object));
      namespaces[found.metadata.name] = found.metadata.labels;
    }
    return absl::OkStatus();
  }
};

// The classes that every installation of Koordinator brings.
void AddUsualClasses(Surroundings& out) {
  for (const auto& [name, value] : {std::pair{"koord-prod", 9000},
                                    {"koord-mid", 7000},
                                    {"koord-batch", 5000},
                                    {"koord-free", 3000}}) {
    auto made = std::make_shared<kube::PriorityClass>();
    made->metadata.name = name;
    made->value = value;
    made->preemption_policy = "PreemptLowerPriority";
    out.classes.emplace(name, std::move(made));
  }
}

StatusOr<Surroundings> FromFiles(const std::vector<std::string>& paths) {
  Surroundings out;
  ASSIGN_OR_RETURN(const auto files, ReadInputFiles(paths));
  for (const InputFile& file : files) {
    const auto documents = kube::ParseYamlDocuments(file.text);
    if (!documents.ok()) return InvalidArgument("{}:{}", file.name, Message(documents.status()));
    for (const kube::YamlDocument& document : *documents) {
      const Json* items = kube::Find(document.value, {"items"});
      Status status = out.Add(document.value);
      for (size_t i = 0; items != nullptr && items->is_array() && i < items->get_array().size();
           ++i) {
        status.Update(out.Add(items->get_array()[i]));
      }
      if (!status.ok()) {
        return InvalidArgument("{}:{}: {}", file.name, document.line, Message(status));
      }
    }
  }
  AddUsualClasses(out);
  return out;
}

StatusOr<Surroundings> FromCluster(const ConnectionOptions& options) {
  Surroundings out;
  ASSIGN_OR_RETURN(const auto connection, Connection::Open(options));
  const std::pair<const kube::Resource&, std::string_view> wanted[] = {
      {api::kClusterColocationProfiles, "ClusterColocationProfile"},
      {kube::kPriorityClasses, "PriorityClass"},
      {kube::kNamespaces, "Namespace"}};
  for (const auto& [resource, kind] : wanted) {
    ASSIGN_OR_RETURN(const Json list, connection->List(resource, "", {}));
    const kube::json::array* items = kube::FindArray(list, {"items"});
    for (size_t i = 0; items != nullptr && i < items->size(); ++i) {
      Json object = (*items)[i];
      object.as_object()["kind"] = kind;
      RETURN_IF_ERROR(out.Add(object));
    }
  }
  return out;
}

// As the API server does before it asks anybody: the number behind a name.
void SetPriority(Json& pod, const Surroundings& surroundings) {
  const auto found =
      surroundings.classes.find(kube::FindString(pod, {"spec", "priorityClassName"}));
  if (found == surroundings.classes.end() || kube::Find(pod, {"spec", "priority"}) != nullptr) {
    return;
  }
  kube::At(pod, {"spec", "priority"}) = found->second->value;
}

ProfilesQuestion QuestionAbout(const PodOfManifest& pod, Surroundings& surroundings) {
  ProfilesQuestion question;
  question.profiles = surroundings.profiles;
  question.ns = pod.ns;
  const auto ns = surroundings.namespaces.find(pod.ns);
  if (ns != surroundings.namespaces.end()) {
    question.namespace_labels = ns->second;
  } else {
    surroundings.notes.push_back(
        fmt::format("namespace {} is not known: taken to have no labels of its own", pod.ns));
  }
  question.namespace_labels.emplace("kubernetes.io/metadata.name", pod.ns);
  question.priority_class =
      [&surroundings](std::string_view name) -> std::shared_ptr<const kube::PriorityClass> {
    const auto found = surroundings.classes.find(name);
    return found != surroundings.classes.end() ? found->second : nullptr;
  };
  return question;
}

struct Answer {
  std::string what;
  ProfilesExplanation explanation;
  std::string refused;  // why the pod would not be let in; empty: it would be
  std::string diff;
};

// What koord-manager's webhooks say of the pod as profiles leave it.
Status Admit(Json& pod) {
  RETURN_IF_ERROR(manager::webhook::SetExtendedResourceSpec(pod));
  ASSIGN_OR_RETURN(const auto typed, kube::Decode<kube::Pod>(pod));
  manager::webhook::FieldErrors errors;
  manager::webhook::CheckReservedAnnotations(typed.metadata.annotations, errors);
  if (!errors.empty()) return absl::InvalidArgumentError(errors.ToString());
  return manager::webhook::CheckColocation(typed, nullptr, {});
}

Answer AnswerFor(PodOfManifest pod, const ExplainProfileOptions& options,
                 Surroundings& surroundings) {
  SetPriority(pod.pod, surroundings);
  Answer answer{pod.what, ExplainProfiles(QuestionAbout(pod, surroundings), pod.pod), {}, {}};
  ProfilesExplanation& explanation = answer.explanation;
  answer.refused = explanation.rejection();
  if (answer.refused.empty()) answer.refused = Message(Admit(explanation.result));
  answer.diff = UnifiedDiff(kube::ToYaml(pod.pod), kube::ToYaml(explanation.result),
                            {.from_name = fmt::format("{} as written", pod.what),
                             .to_name = "as it would be created",
                             .color = options.output.empty() && UseColor(stdout)});
  return answer;
}

Json ToJson(const Answer& answer) {
  return {{"pod", answer.what},
          {"profiles", kube::Encode(answer.explanation.profiles)},
          {"resources", answer.explanation.resources},
          {"refused", answer.refused},
          {"diff", answer.diff},
          {"result", answer.explanation.result}};
}

std::string ToText(const Answer& answer) {
  const ProfilesExplanation& explanation = answer.explanation;
  std::string text = answer.what + "\n\n";
  text += explanation.profiles.empty() ? "there are no ClusterColocationProfiles\n"
                                       : FormatVerdicts(explanation);
  text += fmt::format("\nresources: {}\n\n", explanation.resources);
  // A profile that gets pods refused leaves nothing to compare; admission looks at what it made.
  if (explanation.rejection().empty()) {
    text += answer.diff.empty() ? "Nothing would change.\n" : answer.diff;
  }
  if (answer.refused.empty()) return text;
  return text + fmt::format("{}The pod would be refused: {}\n",
                            explanation.rejection().empty() ? "\n" : "", answer.refused);
}

StatusOr<std::vector<PodOfManifest>> ReadPods(const ExplainProfileOptions& options) {
  ASSIGN_OR_RETURN(const auto files, ReadInputFiles({options.pod}));
  std::vector<PodOfManifest> pods;
  for (const InputFile& file : files) {
    const auto documents = kube::ParseYamlDocuments(file.text);
    if (!documents.ok()) return InvalidArgument("{}:{}", file.name, Message(documents.status()));
    for (const kube::YamlDocument& document : *documents) {
      auto found = manager::PodsOf(document.value, options.ns);
      pods.insert(pods.end(), found.begin(), found.end());
    }
  }
  if (pods.empty()) {
    return InvalidArgument("{}: there is no Pod in it, nor anything with a pod template",
                           options.pod);
  }
  return pods;
}

int Run(const ExplainProfileOptions& options) {
  auto pods = ReadPods(options);
  if (!pods.ok()) return FailExplain(pods.status(), kUsage);
  auto surroundings =
      options.files.empty() ? FromCluster(options.connection) : FromFiles(options.files);
  if (!surroundings.ok()) {
    return FailExplain(surroundings.status(), options.files.empty() ? kCluster : kUsage);
  }
  kube::json::array all;
  std::string text;
  bool refused = false;
  for (PodOfManifest& pod : *pods) {
    const Answer answer = AnswerFor(std::move(pod), options, *surroundings);
    refused |= !answer.refused.empty();
    all.push_back(ToJson(answer));
    text += (text.empty() ? "" : "\n") + ToText(answer);
  }
  for (const std::string& note : surroundings->notes) {
    std::fprintf(stderr, "note: %s\n", note.c_str());
  }
  if (!options.output.empty()) {
    text = Structured(all.size() == 1 ? all.front() : Json(std::move(all)), options.output);
  }
  std::fputs(text.c_str(), stdout);
  return refused ? kFailed : kOk;
}

}  // namespace

Command ExplainProfileCommand(CLI::App& explain) {
  CLI::App* app = explain.add_subcommand(
      "profile", "which ClusterColocationProfiles match a manifest, and what they make of it");
  app->alias("profiles");
  app->footer(
      "Says of every profile whether it matches and why, and prints the difference that all of\n"
      "them together would make to the pod as it is created. Nothing is created.\n\n"
      "Profiles, priority classes and namespaces are those of the cluster, or with -f those in\n"
      "the files; then no cluster is needed, and koord-prod, koord-mid, koord-batch and\n"
      "koord-free are known without being there.\n\n"
      "Exit code 1: a pod would be refused, by a profile or by koord-manager's other checks.\n\n"
      "  koord explain profile --pod job.yaml\n"
      "  koord explain profile --pod job.yaml -f profiles/ -n jobs\n"
      "  kubectl get pod p -o yaml | koord explain profile --pod - -o json");
  auto options = std::make_shared<ExplainProfileOptions>();
  app->add_option("--pod", options->pod,
                  "manifest of a Pod, or of anything with a pod template; - for standard input")
      ->required();
  app->add_option("-f,--filename", options->files,
                  "file or directory with the profiles, instead of the cluster's; may be repeated");
  app->add_option("-n,--namespace", options->ns, "of pods whose manifest does not say")
      ->capture_default_str();
  AddConnectionOptions(*app, options->connection);
  AddOutputOption(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
