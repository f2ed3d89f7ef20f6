#include "worker/evaluation/prediction_data.h"

#include <cmath>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/remote_url.h"
#include "common/base/status_macros.h"
#include "common/config/path.h"
#include "common/config/yaml_reader.h"
#include "common/data_source/feature_file.h"
#include "common/data_source/sources.h"
#include "common/job/job_fields.h"
#include "common/job/job_model.h"
#include "common/job/job_reader.h"
#include "common/limits.h"

namespace paceline {
namespace {

// The default of Keras' predict.
constexpr int64_t kBatchSize = 32;

// `{` begins a map in JSON, and `key: value` is one in YAML; a path of a file
// has neither.
bool IsSpec(const std::string& data) {
  return absl::StartsWith(data, "{") || absl::StrContains(data, ": ");
}

absl::Status CheckOptions(const PredictOptions& options) {
  const bool has_job = !options.job_path.empty();
  if (has_job == !options.data.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(has_job ? "--job and --data are both given"
                             : "neither --job nor --data is given",
                     "; expected one of them, which says what the examples "
                     "are"));
  }
  if (!has_job && !options.overrides.empty()) {
    return absl::InvalidArgumentError(
        "--set changes a field of a job, and none is given; expected --job");
  }
  if (options.scale && (has_job || IsSpec(options.data))) {
    return absl::InvalidArgumentError(
        "--scale is for a file of --data; expected `scale` in the job or in "
        "what --data says");
  }
  return absl::OkStatus();
}

absl::Status OpenDataset(const RemoteFiles& files, const Path& field,
                         const v1::Dataset& dataset, PredictionData& data) {
  data.dataset = dataset;
  ASSIGN_OR_RETURN(data.files,
                   FetchData(
                       files, Contents::kFeatures, field, [] {}, data.dataset));
  ASSIGN_OR_RETURN(data.source,
                   OpenDataSource(data.dataset, Contents::kFeatures));
  return absl::OkStatus();
}

absl::StatusOr<PredictionData> OpenJob(const PredictOptions& options,
                                       const RemoteFiles& files) {
  PredictionData data;
  // Only the data set that is read needs to be on this machine.
  ASSIGN_OR_RETURN(data.job, ReadJobFile(options.job_path, options.overrides,
                                         {.check_files = false}));
  data.batch_size = WorkerBatchSize(data.job, /*workers=*/1);
  data.job.clear_precision();
  if (!data.job.data().has_test()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.job_path,
                     ": data.test is missing, expected a data set to "
                     "predict"));
  }
  RETURN_IF_ERROR(Annotate(
      OpenDataset(files, Path(), data.job.data().test(), data), "data.test"));
  return data;
}

absl::StatusOr<v1::Dataset> ReadSpec(const std::string& text) {
  ASSIGN_OR_RETURN(const Value spec,
                   ReadYaml(text, "--data", limits::kMaxJobBytes));
  absl::StatusOr<v1::Dataset> dataset =
      FieldsOf(static_cast<const v1::Dataset*>(nullptr)).Read(spec, Path());
  if (!dataset.ok()) return Annotate(dataset.status(), "--data");
  return dataset;
}

absl::StatusOr<PredictionData> OpenData(const PredictOptions& options,
                                        const RemoteFiles& files) {
  PredictionData data;
  data.batch_size = kBatchSize;
  data.job.set_device("auto");
  if (IsSpec(options.data)) {
    ASSIGN_OR_RETURN(const v1::Dataset dataset, ReadSpec(options.data));
    RETURN_IF_ERROR(OpenDataset(files, Path(), dataset, data));
    return data;
  }
  data.dataset.set_scale(options.scale.value_or(1));
  std::string path = options.data;
  if (IsRemote(path)) {
    ASSIGN_OR_RETURN(CachedFile file, files.Fetch(path));
    path = file.path();
    data.files.push_back(std::move(file));
  }
  ASSIGN_OR_RETURN(data.source, OpenFeatureFile(path));
  return data;
}

}  // namespace

absl::StatusOr<PredictionData> OpenPredictionData(const PredictOptions& options,
                                                  const RemoteFiles& files) {
  RETURN_IF_ERROR(CheckOptions(options));
  std::error_code error;
  if (std::filesystem::equivalent(options.output, options.data, error) ||
      std::filesystem::equivalent(options.output, options.model, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--output ", options.output,
                     " is what is read, expected another file"));
  }
  if (options.scale && !std::isfinite(*options.scale)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--scale is ", *options.scale, ", expected a finite number"));
  }
  ASSIGN_OR_RETURN(PredictionData data, options.job_path.empty()
                                            ? OpenData(options, files)
                                            : OpenJob(options, files));
  if (options.batch_size > 0) data.batch_size = options.batch_size;
  if (!options.device.empty()) data.job.set_device(options.device);
  return data;
}

}  // namespace paceline
