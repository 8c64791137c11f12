#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/json.h"

namespace koord::kube {

// A program that is asked for credentials.
struct ExecConfig {
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // added to our own
  std::string api_version;  // client.authentication.k8s.io/v1 or v1beta1
  std::string install_hint;
  std::string interactive_mode;  // Never, IfAvailable, Always
  bool provide_cluster_info = false;
  Json cluster_extension;  // passed on as spec.cluster.config
};

// Where an API server is and how to be let in: what a kubeconfig's context comes down to. Where
// both data and a file are given, the data counts; a token file counts more than a token.
struct ClientConfig {
  std::string server;            // URL; may have a path
  std::string ca_data, ca_file;  // PEM; neither: the system's authorities
  bool insecure_skip_tls_verify = false;
  std::string tls_server_name;  // if it differs from the URL's host
  std::string proxy_url;        // empty: HTTPS_PROXY and NO_PROXY decide

  std::string client_certificate_data, client_certificate_file;  // PEM
  std::string client_key_data, client_key_file;
  std::string token, token_file;
  std::string username, password;
  std::optional<ExecConfig> exec;

  std::string impersonate_user, impersonate_uid;
  std::vector<std::string> impersonate_groups;
  std::map<std::string, std::vector<std::string>> impersonate_extra;

  std::string ns;  // that the context names; "default" if it names none
};

}  // namespace koord::kube
