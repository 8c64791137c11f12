#include "localcluster/apiserver/tables/printer.h"

#include <map>
#include <utility>

#include "localcluster/apiserver/tables/human_duration.h"

namespace koord::apiserver {
namespace {

constexpr Column kDefaultColumns[] = {kNameColumn, {"Created At", "date"}};

void PrintDefault(Row& row) { row.Name().TextAt({"metadata", "creationTimestamp"}); }

using GroupKind = std::pair<std::string_view, std::string_view>;

std::map<GroupKind, const Printer*> IndexPrinters() {
  std::map<GroupKind, const Printer*> index;
  for (const auto& area :
       {PodPrinters(), CorePrinters(), WorkloadPrinters(), StoragePrinters(), PolicyPrinters()}) {
    for (const Printer& printer : area) index[{printer.group, printer.kind}] = &printer;
  }
  return index;
}

}  // namespace

Row& Row::Age() { return Text(HumanAge(Get({"metadata", "creationTimestamp"}), now)); }

const Printer& FindPrinter(std::string_view group, std::string_view kind) {
  static const auto& index = *new auto(IndexPrinters());
  static constexpr Printer kDefault{"", "", kDefaultColumns, PrintDefault};
  const auto found = index.find({group, kind});
  return found == index.end() ? kDefault : *found->second;
}

}  // namespace koord::apiserver
