#include "common/job/job_reader.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/config/json_escapes.h"
#include "common/config/message_fields.h"
#include "common/config/path.h"
#include "common/config/yaml_reader.h"
#include "common/job/backup.h"
#include "common/job/job_checks.h"
#include "common/job/job_fields.h"
#include "common/job/job_files.h"
#include "common/job/job_phases.h"
#include "common/job/model_file.h"
#include "common/job/overrides.h"
#include "common/job/readable_files.h"
#include "common/limits.h"
#include "common/strategy/strategy_traits.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

bool Has(const Value& map, absl::string_view key) {
  const Value* value = map.Find(key);
  return value != nullptr && !value->is_null();
}

// Fills in the defaults that depend on other fields or on the file's name,
// which field tables cannot express.
void FillDefaults(const Value& document, const std::string& path,
                  v1::Job& job) {
  if (!Has(document, "name")) job.set_name(fs::path(path).stem().string());
  if (!job.has_cluster()) job.mutable_cluster()->set_worker(1);
  const Value* cluster = document.Find("cluster");
  if (StrategyOf(job).has_parameter_servers() &&
      (!Has(document, "cluster") || !Has(*cluster, "ps"))) {
    job.mutable_cluster()->set_ps(1);
  }
  if (job.has_checkpoint() && job.checkpoint().every_steps() == 0 &&
      !Has(*document.Find("checkpoint"), "every_epochs")) {
    job.mutable_checkpoint()->set_every_epochs(1);
  }
  NamePhases(job);
}

// Whether the override of `path` may say which files of models there are to
// load. The layers of a model that is a file are not in the document yet.
bool NamesModelFiles(absl::string_view path, const Value& document) {
  if (path == "model") return true;
  const Value* const model =
      document.is_map() ? document.Find("model") : nullptr;
  return model != nullptr && model->is_map() &&
         absl::StartsWith(path, "model.") &&
         (path == "model.layers" || absl::EndsWith(path, ".path"));
}

// Applies the overrides that say which files of models there are to load, and
// returns the others, which may change what comes from such a file.
absl::StatusOr<std::vector<std::string>> ApplyFileOverrides(
    absl::Span<const std::string> overrides, Value& document) {
  std::vector<std::string> others;
  for (const std::string& each : overrides) {
    const absl::string_view path =
        absl::string_view(each).substr(0, each.find('='));
    if (NamesModelFiles(path, document)) {
      RETURN_IF_ERROR(ApplyOverride(each, document));
    } else {
      others.push_back(each);
    }
  }
  return others;
}

void MakePathsAbsolute(const std::string& job_path, v1::Job& job) {
  ChangeFiles(job, [&job_path](std::string& path) {
    path = AbsolutePath(job_path, path);
  });
}

// In a service they stay relative, since the tasks of a job have its folder at
// different places.
absl::Status PlaceCacheFiles(const std::string& job_path,
                             const JobReaderOptions& options, v1::Job& job) {
  if (options.may_read == nullptr) {
    ChangeCacheFiles(job, [&job_path](std::string& path) {
      path = AbsolutePath(job_path, path);
    });
    return absl::OkStatus();
  }
  ChangeCacheFiles(job, [](std::string& path) {
    path = fs::path(path).lexically_normal().string();
  });
  return CheckCacheFiles(job);
}

absl::StatusOr<v1::Job> ReadDocument(const Value& document,
                                     const std::string& path,
                                     const JobReaderOptions& options) {
  if (document.is_null()) {
    return absl::InvalidArgumentError("empty; expected a job");
  }
  ASSIGN_OR_RETURN(
      v1::Job job,
      FieldsOf(static_cast<const v1::Job*>(nullptr)).Read(document, Path()));
  FillDefaults(document, path, job);
  RETURN_IF_ERROR(TakeBackupPolicy(job));
  RETURN_IF_ERROR(CheckJob(job));
  if (options.named_files != nullptr) {
    const std::vector<JobFile> files = FilesOf(job);
    options.named_files->insert(options.named_files->end(), files.begin(),
                                files.end());
  }
  MakePathsAbsolute(path, job);
  RETURN_IF_ERROR(PlaceCacheFiles(path, options, job));
  if (options.may_read != nullptr) {
    RETURN_IF_ERROR(CheckReadable(job, options.may_read));
  }
  if (options.check_files) RETURN_IF_ERROR(CheckFiles(job));
  return job;
}

}  // namespace

absl::StatusOr<v1::Job> ReadJob(absl::string_view text, const std::string& path,
                                absl::Span<const std::string> overrides,
                                const JobReaderOptions& options) {
  const bool is_json = fs::path(path).extension() == ".json";
  ASSIGN_OR_RETURN(Value document,
                   ReadYaml(is_json ? JoinSurrogates(text) : std::string(text),
                            path, limits::kMaxJobBytes));
  ASSIGN_OR_RETURN(const std::vector<std::string> other_overrides,
                   ApplyFileOverrides(overrides, document));
  const absl::StatusOr<TakenFromFile> taken =
      LoadModelFile(path, options.may_read, document);
  if (!taken.ok()) return Locate(taken.status(), path, document);
  if (options.named_files != nullptr) *options.named_files = taken->files;
  for (const std::string& each : other_overrides) {
    RETURN_IF_ERROR(ApplyOverride(each, document));
  }
  if (const absl::Status left = LeaveFieldsToPhases(document); !left.ok()) {
    return Locate(left, path, document);
  }
  absl::StatusOr<v1::Job> job = ReadDocument(document, path, options);
  if (!job.ok()) return Locate(job.status(), path, document);
  // With TF_CONFIG, a file that the model did not come from may be on other
  // machines only.
  if (options.check_files || !taken->weights.empty()) {
    RETURN_IF_ERROR(CheckWeights(*taken, *job));
  }
  return job;
}

absl::StatusOr<v1::Job> ReadJobFile(const std::string& path,
                                    absl::Span<const std::string> overrides,
                                    const JobReaderOptions& options) {
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFile(path, limits::kMaxJobBytes));
  return ReadJob(text, path, overrides, options);
}

}  // namespace paceline
