#pragma once
#include <map>
#include <string>

#include "koordlet/host/discovery.h"

namespace koord::koordlet {

// Where the machine's directories are, seen from koordlet: in a container most are mounted
// elsewhere.
struct KoordletPaths {
  HostPaths host;
  std::string run;
  std::string hook_config;
  std::string xpu_device_infos = "/var/run/koordlet/xpu-device-infos/";
  std::string pod_resources_proxy = "/var/run/koordlet/pod-resources";
  // Of container runtimes that are not at their usual places, by their names.
  std::map<std::string, std::string, std::less<>> endpoints;
};

KoordletPaths PathsInContainer();  // of the DaemonSet
KoordletPaths PathsOnHost();       // of a process of the machine itself
// Of a directory that holds the image of a whole machine.
KoordletPaths PathsBelow(const std::string& root);

}  // namespace koord::koordlet
