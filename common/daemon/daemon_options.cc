#include "common/daemon/daemon_options.h"

#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/base/names.h"
#include "common/base/option_text.h"
#include "common/base/remote_url.h"
#include "common/base/status_macros.h"
#include "common/base/unexpected_value.h"
#include "common/cluster/address.h"
#include "common/daemon/machine_resources.h"

namespace paceline {
namespace {

constexpr char kGroup[] =
    "As a daemon of a service (--coordinator, no --index)";
// What the coordinator takes.
constexpr double kMaxCores = 1e6;
constexpr uint64_t kMaxMemoryBytes = uint64_t{64} << 40;

// "node1-ps".
absl::StatusOr<std::string> NameOf(const std::string& given, TaskType type) {
  std::string name = given;
  if (name.empty()) {
    char host[256] = {};
    if (gethostname(host, sizeof(host) - 1) != 0) {
      return absl::ErrnoToStatus(errno, "cannot find this machine's name");
    }
    name = absl::StrCat(host, "-", TaskTypeName(type));
  }
  RETURN_IF_ERROR(CheckSafeName("--name", name));
  return name;
}

absl::StatusOr<std::map<std::string, std::string>> LabelsOf(
    const std::vector<std::string>& texts) {
  std::map<std::string, std::string> labels;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(auto key_value, ParseLabel("--label", text));
    if (!labels.insert(std::move(key_value)).second) {
      return UnexpectedValue("--label", text, "each key once");
    }
  }
  return labels;
}

absl::StatusOr<v1::Resources> TotalOf(const DaemonFlags& flags) {
  ASSIGN_OR_RETURN(v1::Resources total, MachineResources(/*root=*/""));
  if (flags.cores > 0) {
    total.set_millicores(
        std::max<uint64_t>(1, std::llround(1000 * flags.cores)));
  }
  if (!flags.memory.empty()) {
    ASSIGN_OR_RETURN(const uint64_t memory,
                     ParseSize("--memory", flags.memory));
    if (memory == 0 || memory > kMaxMemoryBytes) {
      return UnexpectedValue("--memory", flags.memory,
                             "above 0, at most 64TiB");
    }
    total.set_memory_bytes(memory);
  }
  return total;
}

absl::StatusOr<std::optional<JobSecret>> SecretOf(const DaemonFlags& flags,
                                                  const DaemonPlace& place,
                                                  const Address& coordinator) {
  ASSIGN_OR_RETURN(
      std::optional<JobSecret> secret,
      FindServiceSecret(flags.secret_file, place.environment_secret_file,
                        place.is_insecure));
  // The certificates of TLS tell who is the coordinator, too.
  if (secret || IsLoopback(coordinator) || !place.tls_files.empty()) {
    return secret;
  }
  if (place.is_insecure) {
    LOG(WARNING) << "--insecure: whoever can take the coordinator's place at "
                 << place.coordinator << " has this daemon run tasks";
    return secret;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the coordinator at ", place.coordinator,
      " is beyond this machine, and there is no secret; expected a file with "
      "that of the service (--secret-file or ",
      kServiceSecretFileVariable,
      "), the files of TLS, or --insecure on a network that nobody else "
      "reaches"));
}

// Jobs of others must not make this machine call what only it can reach, so
// their tasks fetch nothing else.
absl::Status AddData(const std::vector<std::string>& data,
                     DaemonOptions& options) {
  namespace fs = std::filesystem;
  options.data_access = options.place.data;
  for (const std::string& each : data) {
    if (IsRemote(each)) {
      const absl::StatusOr<RemoteUrl> prefix = ParseUrlPrefix(each);
      if (!prefix.ok()) return Annotate(prefix.status(), "--data");
      options.data_access.from.push_back(prefix->Address());
      continue;
    }
    std::error_code error;
    if (!fs::is_directory(each, error)) {
      return UnexpectedValue("--data", each, "a folder");
    }
    options.data_folders.push_back(fs::absolute(each).string());
  }
  if (options.data_access.from.empty()) {
    options.data_access.from.emplace_back(kDataFromNowhere);
  }
  return absl::OkStatus();
}

// Tasks work in folders of their own.
TlsFiles AbsoluteFiles(TlsFiles files) {
  for (std::string* path : {&files.certificate, &files.key, &files.authority}) {
    if (!path->empty()) *path = std::filesystem::absolute(*path).string();
  }
  return files;
}

}  // namespace

void DaemonFlags::AddTo(CLI::App& app) {
  app.add_option("--name", name,
                 "Its name, unique in the service. Default: that of the "
                 "machine, and the type.")
      ->group(kGroup);
  app.add_option("--work", work,
                 "Folder for jobs. Default: paceline-work/NAME.")
      ->group(kGroup);
  app.add_option("--cores", cores, "Cores for tasks. Default: all.")
      ->check(CLI::Range(0.001, kMaxCores))
      ->group(kGroup);
  app.add_option("--memory", memory,
                 "Memory for tasks: 8GiB, 512MiB. Default: all.")
      ->group(kGroup);
  app.add_option("--label", labels, "KEY=VALUE: what jobs may ask of a daemon.")
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--advertise", advertise,
                 "Host at which others reach its tasks. Default: the address "
                 "from which it reaches the coordinator.")
      ->group(kGroup);
  app.add_option("--data", data,
                 "Folder outside their own that jobs may read whose tasks run "
                 "here; or what the URLs of data may begin with that these "
                 "tasks fetch: https://host/folder/, s3://bucket/.")
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_flag("--allow-exec", allow_exec,
               "Callbacks of jobs that are led here may run programs (Exec) "
               "and send to any address (RemoteMonitor), as this user. Also "
               "for a task of TF_CONFIG that leads.")
      ->group(kGroup);
  app.add_option("--secret-file", secret_file,
                 "File with the service's secret; instead of the environment "
                 "variable PACELINE_SECRET_FILE.")
      ->group(kGroup);
}

absl::StatusOr<DaemonOptions> ResolveDaemonOptions(const DaemonFlags& flags,
                                                   const DaemonPlace& place) {
  DaemonOptions options;
  options.place = place;
  const absl::StatusOr<Address> coordinator = ParseAddress(place.coordinator);
  if (!coordinator.ok()) {
    return UnexpectedValue(
        "--coordinator", place.coordinator,
        absl::StrCat("host:port (", coordinator.status().message(), ")"));
  }
  // With the port, if it has none.
  options.place.coordinator = coordinator->ToString();
  ASSIGN_OR_RETURN(options.secret, SecretOf(flags, place, *coordinator));
  ASSIGN_OR_RETURN(options.tls, Tls::Load(AbsoluteFiles(place.tls_files)));
  ASSIGN_OR_RETURN(options.name, NameOf(flags.name, place.type));
  ASSIGN_OR_RETURN(options.labels, LabelsOf(flags.labels));
  ASSIGN_OR_RETURN(options.total, TotalOf(flags));
  namespace fs = std::filesystem;
  options.work_folder =
      fs::absolute(flags.work.empty() ? "paceline-work/" + options.name
                                      : flags.work)
          .string();
  if (!flags.advertise.empty()) {
    const absl::StatusOr<Address> host = ParseAddress(flags.advertise);
    if (!host.ok() || host->has_port) {
      return UnexpectedValue("--advertise", flags.advertise,
                             "a host without a port");
    }
    options.advertised_host = host->host;
  }
  options.allows_exec = flags.allow_exec;
  RETURN_IF_ERROR(AddData(flags.data, options));
  options.data_access.cache = place.data.cache.empty()
                                  ? options.work_folder + "/data-cache"
                                  : fs::absolute(place.data.cache).string();
  return options;
}

}  // namespace paceline
