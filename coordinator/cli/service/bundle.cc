#include "coordinator/cli/service/bundle.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/peer_text.h"
#include "common/base/remote_url.h"
#include "common/base/size_text.h"
#include "common/base/status_macros.h"
#include "common/config/json_escapes.h"
#include "common/config/path.h"
#include "common/config/yaml_reader.h"
#include "common/identity/sha256.h"
#include "common/job/job_files.h"
#include "common/job/job_reader.h"
#include "common/keras/tensorflow_weights.h"
#include "common/limits.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr char kJobName[] = "job.yaml";

// The files to bundle, and the field that names each, by their paths in the
// job's folder.
using Named = std::map<std::string, Path>;

// The path below the job's folder.
absl::StatusOr<std::string> PathInJob(const JobFile& file) {
  std::string path = fs::path(file.path).lexically_normal().string();
  if (path == ".." || absl::StartsWith(path, "../")) {
    return ConfigError(
        file.field,
        absl::StrCat(PeerText(file.path),
                     " is not below the job's folder; expected a file below "
                     "the job file's folder, an absolute path below a "
                     "--data folder of the daemons, or a URL that they "
                     "allow"));
  }
  if (path == kJobName) {
    return ConfigError(file.field,
                       absl::StrCat(PeerText(file.path), " would be ", kJobName,
                                    ", as which the job itself is submitted; "
                                    "expected another name"));
  }
  return path;
}

// Adds the parts of a checkpoint of TensorFlow, which the job names by what
// their names begin with.
void AddCheckpointParts(const std::string& path_in_job,
                        const std::string& folder, const Path& field,
                        Named& named) {
  const fs::path prefix = fs::path(folder) / path_in_job;
  const std::string parts = prefix.filename().string() + ".";
  std::error_code error;
  for (fs::directory_iterator each(prefix.parent_path(), error), end;
       !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (name != parts + "index" && !absl::StartsWith(name, parts + "data-")) {
      continue;
    }
    named.emplace((fs::path(path_in_job).parent_path() / name).string(), field);
  }
}

// Adds the files in a folder, and in those below.
absl::Status AddFolder(const std::string& path_in_job,
                       const std::string& folder, const Path& field,
                       Named& named) {
  if (path_in_job == ".") {
    return ConfigError(field,
                       "is the job's folder; expected one below, which has "
                       "nothing but the data");
  }
  const fs::path root(folder);
  std::error_code error;
  for (fs::recursive_directory_iterator each(root / path_in_job, error), end;
       !error && each != end; each.increment(error)) {
    if (each->is_symlink(error) && each->is_directory(error)) {
      return ConfigError(
          field, absl::StrCat(PeerText(each->path().string()),
                              ": links to folders do not travel; expected a "
                              "folder"));
    }
    if (!each->is_regular_file(error)) continue;
    named.emplace(each->path().lexically_relative(root).string(), field);
  }
  if (!error) return absl::OkStatus();
  return ConfigError(
      field, absl::StrCat(PeerText(path_in_job), ": ", error.message()));
}

absl::StatusOr<Named> BundledOf(const std::vector<JobFile>& files,
                                const std::string& folder) {
  Named named;
  for (const JobFile& file : files) {
    if (fs::path(file.path).is_absolute() || IsRemote(file.path)) continue;
    ASSIGN_OR_RETURN(const std::string path, PathInJob(file));
    if (file.path.ends_with('/')) {
      RETURN_IF_ERROR(AddFolder(path, folder, file.field, named));
    } else if (WeightsFilePath((fs::path(folder) / path).string()) !=
               (fs::path(folder) / path).string()) {
      AddCheckpointParts(path, folder, file.field, named);
    } else {
      named.emplace(path, file.field);
    }
  }
  return named;
}

absl::Status CheckSizes(const Named& named, const std::string& folder,
                        uint64_t max_bytes) {
  uint64_t total = 0;
  uint64_t most = 0;
  std::string largest;
  for (const auto& [path, field] : named) {
    const absl::StatusOr<int64_t> size = FileSize(folder + "/" + path);
    if (!size.ok()) {
      return ConfigError(field, size.status().message(), size.status().code());
    }
    total += static_cast<uint64_t>(*size);
    if (static_cast<uint64_t>(*size) >= most) largest = path;
    most = std::max(most, static_cast<uint64_t>(*size));
  }
  if (total <= max_bytes) return absl::OkStatus();
  return ConfigError(
      named.at(largest),
      absl::StrCat("the job's files have ", SizeText(total), ", of which ",
                   PeerText(largest), " has ", SizeText(most),
                   "; expected at most ", SizeText(max_bytes),
                   ": put larger data below a --data folder of the daemons, "
                   "and name it by its absolute path; or by a URL"),
      absl::StatusCode::kResourceExhausted);
}

absl::Status AddFiles(const Named& named, const std::string& folder,
                      std::vector<BundledFile>& files) {
  for (const auto& [path_in_job, field] : named) {
    const std::string path = folder + "/" + path_in_job;
    absl::StatusOr<v1::JobFile> file = HashFile(path, path_in_job);
    if (!file.ok()) {
      return ConfigError(field, file.status().message(), file.status().code());
    }
    files.push_back({*std::move(file), path});
  }
  return absl::OkStatus();
}

// Whether the job file or an override names the job, which otherwise has the
// name of its file.
bool NamesJob(const Value& document,
              const std::vector<std::string>& overrides) {
  const Value* const name = document.Find("name");
  return (name != nullptr && !name->is_null()) ||
         std::any_of(overrides.begin(), overrides.end(),
                     [](const std::string& each) {
                       return absl::StartsWith(each, "name=");
                     });
}

BundledFile JobItself(const std::string& text) {
  BundledFile bundled;
  bundled.file.set_path(kJobName);
  bundled.file.set_sha256(Sha256Hex(text));
  bundled.file.set_size_bytes(text.size());
  return bundled;
}

}  // namespace

absl::StatusOr<JobBundle> BundleJob(const std::string& job_path,
                                    const std::vector<std::string>& overrides,
                                    uint64_t max_bytes) {
  JobBundle bundle;
  ASSIGN_OR_RETURN(bundle.text, ReadFile(job_path, limits::kMaxJobBytes));
  std::vector<JobFile> files;
  ASSIGN_OR_RETURN(bundle.job,
                   ReadJob(bundle.text, job_path, overrides,
                           {.check_files = false, .named_files = &files}));
  // Under its new name it is read as YAML.
  if (fs::path(job_path).extension() == ".json") {
    bundle.text = JoinSurrogates(bundle.text);
  }
  ASSIGN_OR_RETURN(const Value document,
                   ReadYaml(bundle.text, job_path, limits::kMaxJobBytes));
  bundle.overrides = overrides;
  if (!NamesJob(document, overrides)) {
    bundle.overrides.push_back(absl::StrCat(
        "name=", nlohmann::ordered_json(bundle.job.name()).dump()));
  }
  const std::string folder =
      fs::absolute(job_path).parent_path().lexically_normal();
  const auto locate = [&](const absl::Status& status) {
    return Locate(status, job_path, document);
  };
  const absl::StatusOr<Named> named = BundledOf(files, folder);
  if (!named.ok()) return locate(named.status());
  bundle.files.push_back(JobItself(bundle.text));
  RETURN_IF_ERROR(locate(CheckSizes(*named, folder, max_bytes)));
  RETURN_IF_ERROR(locate(AddFiles(*named, folder, bundle.files)));
  return bundle;
}

}  // namespace paceline
