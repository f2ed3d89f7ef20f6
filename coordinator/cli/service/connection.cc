#include "coordinator/cli/service/connection.h"

#include <sys/stat.h>

#include <map>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/cluster/address.h"
#include "common/config/field_table.h"
#include "common/config/suggestion.h"
#include "common/config/yaml_reader.h"
#include "common/identity/token.h"
#include "common/job/job_files.h"
#include "common/task/tls_options.h"

namespace paceline {
namespace {

constexpr int64_t kMaxConfigBytes = 1 << 20;

struct Context {
  std::string address;
  std::string secret_file;
  std::string token_file;
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_authority;
};

struct Contexts {
  std::map<std::string, Context> by_name;
};

const FieldTable<Context>& FieldsOf(const Context* /*tag*/) {
  static const auto& table = *new FieldTable<Context>(
      "context", "A coordinator.",
      {Required("address", &Context::address, "\"host:port\"."),
       Optional("secret-file", &Context::secret_file,
                "The file with the service's secret."),
       Optional("token-file", &Context::token_file,
                "The file with your token."),
       Optional("tls-cert", &Context::tls_certificate, "As --tls-cert."),
       Optional("tls-key", &Context::tls_key, "As --tls-key."),
       Optional("tls-ca", &Context::tls_authority, "As --tls-ca.")});
  return table;
}

absl::Status ReadConfig(const Value& value, const Path& path, Contexts& out) {
  if (!value.is_map()) {
    return WrongType(value, path, "a map of contexts by name");
  }
  for (const Value::Entry& entry : value.as_map()) {
    const Path place = path.Key(entry.key);
    ASSIGN_OR_RETURN(Context context,
                     FieldsOf(static_cast<const Context*>(nullptr))
                         .Read(entry.value, place));
    if (const auto address = ParseAddress(context.address); !address.ok()) {
      return ConfigError(place.Key("address"),
                         absl::StrCat("\"", PeerText(context.address), "\" ",
                                      address.status().message()));
    }
    out.by_name[entry.key] = std::move(context);
  }
  return absl::OkStatus();
}

Value WriteConfig(const Contexts& /*contexts*/) { return {}; }

struct ClientConfig {
  std::string current_context;
  Contexts contexts;
};

const FieldTable<ClientConfig>& FieldsOf(const ClientConfig* /*tag*/) {
  static const auto& table = *new FieldTable<ClientConfig>(
      "config", "Coordinators that a person uses.",
      {Optional("current-context", &ClientConfig::current_context,
                "The context that is used without --context."),
       Optional("contexts", &ClientConfig::contexts, "By name.")});
  return table;
}

// A file that does not exist has no contexts.
absl::StatusOr<ClientConfig> ReadClientConfig(const std::string& path) {
  if (path.empty()) return ClientConfig();
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxConfigBytes);
  if (absl::IsNotFound(text.status())) return ClientConfig();
  RETURN_IF_ERROR(text.status());
  ASSIGN_OR_RETURN(const Value document,
                   ReadYaml(*text, path, kMaxConfigBytes));
  if (document.is_null()) return ClientConfig();
  absl::StatusOr<ClientConfig> config =
      FieldsOf(static_cast<const ClientConfig*>(nullptr))
          .Read(document, Path());
  if (!config.ok()) return Locate(config.status(), path, document);
  return config;
}

// Its files are relative to the config file's folder. nullopt: the
// file has no current context.
absl::StatusOr<std::optional<Context>> FindContext(
    const ConnectionOptions& options) {
  ASSIGN_OR_RETURN(const ClientConfig config,
                   ReadClientConfig(options.config_path));
  const std::string& name =
      options.context.empty() ? config.current_context : options.context;
  if (name.empty()) return std::nullopt;
  const auto found = config.contexts.by_name.find(name);
  if (found == config.contexts.by_name.end()) {
    std::vector<std::string> known;
    for (const auto& [each, context] : config.contexts.by_name) {
      known.push_back(each);
    }
    return absl::InvalidArgumentError(
        absl::StrCat(options.config_path, ": ",
                     options.context.empty() ? "current-context: " : "",
                     "there is no context \"", name, "\"",
                     known.empty() ? "; expected one in `contexts`"
                                   : Suggestion(name, known)));
  }
  Context context = found->second;
  for (std::string* path :
       {&context.secret_file, &context.token_file, &context.tls_certificate,
        &context.tls_key, &context.tls_authority}) {
    if (!path->empty()) *path = AbsolutePath(options.config_path, *path);
  }
  return context;
}

absl::StatusOr<std::string> CheckedAddress(absl::string_view source,
                                           const std::string& text) {
  const absl::StatusOr<Address> address = ParseAddress(text);
  if (address.ok()) return address->ToString();
  return absl::InvalidArgumentError(
      absl::StrCat(source, ": \"", PeerText(text),
                   "\": ", address.status().message(), "; expected HOST:PORT"));
}

// Whether users other than the file's owner may read it.
bool IsReadableByOthers(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0;
}

// Whoever reads the network would have the token.
absl::Status CheckPrivate(const Connection& connection) {
  if (connection.token.empty() || connection.tls != nullptr) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const Address address, ParseAddress(connection.address));
  if (IsLoopback(address)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a token would travel to ", connection.address,
      " over a connection that others can read; expected TLS (--tls-cert, "
      "--tls-key and --tls-ca)"));
}

}  // namespace

void ConnectionOptions::AddTo(CLI::App& app) {
  CLI::Option* const address = app.add_option(
      "--coordinator", coordinator,
      "HOST:PORT of the coordinator; default that of PACELINE_COORDINATOR, or "
      "of the current context in paceline/config.yaml in the folder of your "
      "configuration (~/.config).");
  app.add_option("--context", context,
                 "The coordinator is that of this context.")
      ->excludes(address);
  app.add_option("--secret-file", secret_file,
                 "The file with the service's secret; default that of "
                 "PACELINE_SECRET_FILE, or of the context.");
  app.add_option("--token-file", token_file,
                 "The file with your token, which says who you are; default "
                 "that of PACELINE_TOKEN_FILE, or of the context.");
  AddTlsOptions(app, tls);
}

absl::StatusOr<Connection> FindConnection(const ConnectionOptions& options) {
  std::string source = "--coordinator";
  std::string address = options.coordinator;
  std::string secret_file = options.secret_file;
  std::string token_file = options.token_file;
  TlsFiles tls = options.tls;
  if (address.empty() && options.context.empty()) {
    source = kCoordinatorVariable;
    address = options.environment_coordinator;
  }
  if (secret_file.empty() && options.context.empty()) {
    secret_file = options.environment_secret_file;
  }
  if (token_file.empty() && options.context.empty()) {
    token_file = options.environment_token_file;
  }
  if (address.empty()) {
    source = options.config_path;
    ASSIGN_OR_RETURN(const std::optional<Context> context,
                     FindContext(options));
    if (context) {
      address = context->address;
      if (secret_file.empty()) secret_file = context->secret_file;
      if (token_file.empty()) token_file = context->token_file;
      if (tls.empty()) {
        tls = {context->tls_certificate, context->tls_key,
               context->tls_authority};
      }
    }
  }
  if (address.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no coordinator is named; expected --coordinator HOST:PORT, the "
        "environment variable ",
        kCoordinatorVariable, ", or a current-context in ",
        options.config_path.empty() ? "~/.config/paceline/config.yaml"
                                    : options.config_path));
  }
  Connection connection;
  ASSIGN_OR_RETURN(connection.address, CheckedAddress(source, address));
  if (!secret_file.empty()) {
    ASSIGN_OR_RETURN(connection.secret,
                     JobSecret::FromFile(secret_file, "service"));
  }
  if (!token_file.empty()) {
    ASSIGN_OR_RETURN(connection.token, ReadTokenFile(token_file));
    if (IsReadableByOthers(token_file)) {
      connection.warning =
          absl::StrCat(token_file, ": others may read this token; `chmod 600 ",
                       token_file, "` keeps it yours");
    }
  }
  ASSIGN_OR_RETURN(connection.tls, Tls::Load(tls));
  RETURN_IF_ERROR(CheckPrivate(connection));
  return connection;
}

}  // namespace paceline
