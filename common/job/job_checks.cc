#include "common/job/job_checks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/remote_url.h"
#include "common/base/status_macros.h"
#include "common/callback/make_callbacks.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/data_source/image_input.h"
#include "common/data_source/sources.h"
#include "common/data_step/data_steps.h"
#include "common/job/backup.h"
#include "common/job/data_checks.h"
#include "common/job/device_name.h"
#include "common/job/job_fields.h"
#include "common/job/job_files.h"
#include "common/job/job_model.h"
#include "common/job/job_phases.h"
#include "common/job/job_plan.h"
#include "common/keras/legacy_writer.h"
#include "common/keras/tensorflow_weights.h"
#include "common/model/layers/batch_normalization.h"
#include "common/model/loss_paths.h"
#include "common/model/objective.h"
#include "common/strategy/strategy_traits.h"
#include "google/protobuf/util/message_differencer.h"

namespace paceline {
namespace {

// The name must be usable as that of the output folder.
absl::Status CheckName(const std::string& name) {
  constexpr size_t kMaxName = 128;
  if (name.empty() || name.size() > kMaxName || name[0] == '.' ||
      absl::StrContains(name, '/')) {
    return ConfigError(
        Path("name"),
        absl::StrCat("expected 1 to ", kMaxName,
                     " bytes without a slash or a leading dot, got ",
                     Excerpt(name)));
  }
  return absl::OkStatus();
}

absl::Status CheckCluster(const v1::Job& job) {
  const Path path("cluster");
  const StrategyTraits& strategy = StrategyOf(job);
  if (strategy.has_parameter_servers()) {
    if (job.cluster().ps() > 0) return absl::OkStatus();
    return ConfigError(path.Key("ps"),
                       absl::StrCat("strategy ", strategy.name,
                                    " needs at least 1 ps, got 0"));
  }
  if (job.cluster().ps() > 0) {
    return ConfigError(
        path.Key("ps"),
        absl::StrCat("strategy ", strategy.name,
                     " has no parameter servers, got ", job.cluster().ps()));
  }
  if (!strategy.has_several_workers && job.cluster().worker() > 1) {
    return ConfigError(
        path.Key("worker"),
        absl::StrCat("strategy ", strategy.name, " runs in 1 worker, got ",
                     job.cluster().worker()));
  }
  return absl::OkStatus();
}

// Checks that fields about combining gradients apply to the job's strategy.
absl::Status CheckCombining(const v1::Job& job) {
  const StrategyTraits& strategy = StrategyOf(job);
  if (job.consistency() > v1::CONSISTENCY_ASYNC &&
      !strategy.has_parameter_servers()) {
    return ConfigError(Path("consistency"),
                       absl::StrCat("expected async: strategy ", strategy.name,
                                    " has no parameter servers"));
  }
  if (job.max_staleness() > 0 && job.consistency() != v1::CONSISTENCY_BOUNDED) {
    return ConfigError(Path("max_staleness"),
                       "means something only with `consistency: bounded`");
  }
  if (job.pipeline() > 0 && !strategy.has_parameter_servers()) {
    return ConfigError(
        Path("pipeline"),
        absl::StrCat("expected 0, got ", job.pipeline(), ": strategy ",
                     strategy.name, " has no parameter servers"));
  }
  if (job.pipeline() > 0 && job.consistency() != v1::CONSISTENCY_ASYNC) {
    return ConfigError(Path("pipeline"),
                       absl::StrCat("expected 0, got ", job.pipeline(),
                                    ": it means something only with "
                                    "`consistency: async`"));
  }
  if (job.wire_precision() > v1::WIRE_PRECISION_FLOAT32 &&
      !strategy.workers_are_peers()) {
    return ConfigError(
        Path("wire_precision"),
        absl::StrCat("expected float32 under strategy ", strategy.name,
                     ", whose workers do not sum gradients up themselves"));
  }
  return absl::OkStatus();
}

absl::Status CheckPartitioner(const v1::Job& job) {
  if (!job.has_partitioner()) return absl::OkStatus();
  const Path path("partitioner");
  const StrategyTraits& strategy = StrategyOf(job);
  if (!strategy.has_parameter_servers()) {
    return ConfigError(path, absl::StrCat("strategy ", strategy.name,
                                          " has no parameter servers"));
  }
  return absl::OkStatus();
}

absl::Status CheckPaths(const v1::Job& job) {
  for (const JobFile& file : FilesOf(job)) {
    if (file.path.empty()) {
      return ConfigError(file.field, "the path is empty");
    }
    if (const absl::Status url = CheckUrl(file); !url.ok()) {
      return ConfigError(file.field, url.message(), url.code());
    }
  }
  return absl::OkStatus();
}

absl::Status CheckWeightsField(const v1::Job& job) {
  if (!job.weights_by_name() || !job.weights().empty()) {
    return absl::OkStatus();
  }
  return ConfigError(Path("weights_by_name"),
                     "is true, but there is no file; expected `weights` with "
                     "its path");
}

absl::Status CheckEpochs(const v1::Job& job) {
  if (job.initial_epoch() >= job.epochs()) {
    return ConfigError(
        Path("initial_epoch"),
        absl::StrCat("must be below epochs, ", job.epochs(),
                     ", since epochs count from 0; got ", job.initial_epoch()));
  }
  if (job.data().has_validation() || job.data().validation_split() > 0) {
    return absl::OkStatus();
  }
  constexpr char kNoData[] =
      "there is no validation data; expected data.validation or "
      "data.validation_split";
  if (job.validation_freq() > 1 || job.validation_epochs_size() > 0) {
    return ConfigError(Path("validation_freq"), kNoData);
  }
  if (job.validation_steps() > 0) {
    return ConfigError(Path("validation_steps"), kNoData);
  }
  return absl::OkStatus();
}

absl::Status CheckBatch(const v1::Job& job) {
  if (job.batch_case() == v1::Job::BATCH_NOT_SET) {
    return ConfigError(Path("batch_size_per_replica"),
                       "missing; expected this or global_batch_size");
  }
  if (job.batch_case() == v1::Job::kGlobalBatchSize &&
      job.global_batch_size() < job.cluster().worker()) {
    return ConfigError(
        Path("global_batch_size"),
        absl::StrCat("must be at least 1 for each of ", job.cluster().worker(),
                     " workers, got ", job.global_batch_size()));
  }
  return absl::OkStatus();
}

absl::Status CheckCheckpoint(const v1::Job& job) {
  if (job.has_checkpoint() && job.checkpoint().every_epochs() == 0 &&
      job.checkpoint().every_steps() == 0) {
    return ConfigError(Path("checkpoint"),
                       "expected every_epochs or every_steps above 0, or no "
                       "checkpoint");
  }
  return absl::OkStatus();
}

// Checks the fields that depend on the device.
absl::Status CheckDevice(const v1::Job& job) {
  ASSIGN_OR_RETURN(const DeviceName device, ParseDeviceName(job.device()));
  if (device.kind == DeviceKind::kAuto || device.kind == DeviceKind::kCuda) {
    return absl::OkStatus();
  }
  if (!MayHavePrecision(device.kind, job.precision())) {
    return ConfigError(
        Path("precision"),
        absl::StrCat(Codec<v1::Precision>::Write(job.precision()).as_string(),
                     ": is not of the ", job.device(),
                     " device; expected float32",
                     device.kind == DeviceKind::kCpu ? ", mixed_bfloat16" : "",
                     ", or device: cuda or auto"));
  }
  if (job.device_memory_limit() > 0) {
    return ConfigError(
        Path("device_memory_limit"),
        absl::StrCat("is of a GPU's memory; expected 0 with "
                     "device: ",
                     job.device(), ", got ", job.device_memory_limit()));
  }
  return absl::OkStatus();
}

absl::Status CheckDevices(const v1::Job& job) {
  const StrategyTraits& strategy = StrategyOf(job);
  if (job.devices() == 1 || strategy.has_several_devices) {
    return absl::OkStatus();
  }
  return ConfigError(
      Path("devices"),
      absl::StrCat("strategy ", strategy.name,
                   " takes 1 device in each worker, got ", job.devices()));
}

absl::Status CheckStatistics(const v1::Job& job, const Graph& graph) {
  if (SynchronizedChannels(graph).empty()) return absl::OkStatus();
  if (job.precision() == v1::PRECISION_MIXED_FLOAT16) {
    return ConfigError(
        Path("precision"),
        "mixed_float16 scales the loss in each replica by itself, which "
        "`synchronized: true` of BatchNormalization does not allow; expected "
        "mixed_bfloat16, tf32 or float32");
  }
  // Replicas count on two sums over all replicas for each such layer, one of
  // them of gradients.
  const std::vector<bool> has_loss = NodesWithLoss(job, graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (has_loss[i] || !SynchronizesStatistics(graph.nodes[i])) continue;
    return ConfigError(
        Path("loss"),
        absl::StrCat("no loss depends on the layer ",
                     Excerpt(Value(graph.nodes[i].layer->name)),
                     ", which `synchronized: true` of BatchNormalization "
                     "needs; expected a loss of its output"));
  }
  const StrategyTraits& strategy = StrategyOf(job);
  if (!strategy.has_parameter_servers()) return absl::OkStatus();
  return ConfigError(
      Path("strategy"),
      absl::StrCat("under ", strategy.name,
                   " the workers are not connected with each other, which "
                   "`synchronized: true` of BatchNormalization needs"));
}

absl::Status CheckFile(const JobFile& file) {
  const int fd = open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const absl::Status error = absl::ErrnoToStatus(errno, file.path);
    return ConfigError(file.field, error.message(), error.code());
  }
  struct stat information = {};
  const bool is_folder = file.path.ends_with('/');
  const bool is_expected =
      fstat(fd, &information) == 0 &&
      (is_folder ? S_ISDIR(information.st_mode) : S_ISREG(information.st_mode));
  close(fd);
  if (!is_expected) {
    return ConfigError(file.field,
                       absl::StrCat(file.path, ": expected a ",
                                    is_folder ? "folder" : "regular file"));
  }
  return absl::OkStatus();
}

// Checks that parameter servers can hold the variables as the optimizer needs
// them.
absl::Status CheckOptimizer(const v1::Job& job, const Graph& graph) {
  ASSIGN_OR_RETURN(const std::unique_ptr<const Optimizer> optimizer,
                   MakeJobOptimizer(job, graph));
  if (!StrategyOf(job).has_parameter_servers() ||
      !optimizer->updates_by_variable()) {
    return absl::OkStatus();
  }
  const absl::Status status =
      MakeJobPlan(job, graph, static_cast<int>(job.cluster().ps()),
                  sizeof(float))
          .status();
  if (status.ok()) return status;
  return ConfigError(Path("optimizer"), status.message(), status.code());
}

absl::Status CheckCallbacks(const v1::Job& job, const JobModel& model) {
  CallbackContext context = ContextOf(job, SpecsOf(model.objectives));
  std::vector<ModelArray> inputs;
  for (const int input : model.graph.inputs) {
    const Node& node = model.graph.nodes[input];
    inputs.push_back({node.layer->name, node.output_shape});
  }
  context.no_images = std::string(ImageInput(inputs).status().message());
  context.check_legacy_file = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::unique_ptr<const Optimizer> optimizer,
                     MakeJobOptimizer(job, model.graph));
    return CheckLegacyModel(job, model.graph, *optimizer);
  };
  return MakeCallbacks(job, context).status();
}

}  // namespace

absl::Status CheckJob(const v1::Job& job) {
  RETURN_IF_ERROR(CheckName(job.name()));
  RETURN_IF_ERROR(CheckCluster(job));
  RETURN_IF_ERROR(CheckCombining(job));
  RETURN_IF_ERROR(CheckPartitioner(job));
  RETURN_IF_ERROR(CheckData(job));
  RETURN_IF_ERROR(CheckPaths(job));
  RETURN_IF_ERROR(CheckWeightsField(job));
  RETURN_IF_ERROR(CheckEpochs(job));
  RETURN_IF_ERROR(CheckBatch(job));
  RETURN_IF_ERROR(CheckCheckpoint(job));
  if (job.evaluator()) RETURN_IF_ERROR(CheckEvaluator(job));
  RETURN_IF_ERROR(CheckDevice(job));
  RETURN_IF_ERROR(CheckDevices(job));
  ASSIGN_OR_RETURN(const JobModel model, MakeJobModel(job));
  RETURN_IF_ERROR(CheckStatistics(job, model.graph));
  RETURN_IF_ERROR(CheckOptimizer(job, model.graph));
  // After the optimizer, which they may want to save.
  RETURN_IF_ERROR(CheckCallbacks(job, model));
  return CheckPhases(job);
}

absl::Status CheckEvaluator(const v1::Job& job) {
  if (job.phases_size() > 0) {
    return ConfigError(Path("phases"),
                       "an evaluator follows the checkpoints of a single part "
                       "of the training; expected no phases, or no evaluator");
  }
  if (!job.has_checkpoint()) {
    return ConfigError(Path("checkpoint"),
                       "missing; expected for an evaluator, which evaluates "
                       "checkpoints");
  }
  if (const auto backup = BackupOf(job); backup && backup->delete_checkpoint) {
    return ConfigError(Path("callbacks"),
                       "BackupAndRestore deletes checkpoints, which an "
                       "evaluator evaluates; expected delete_checkpoint: "
                       "false");
  }
  if (job.validation_steps() > 0) {
    return ConfigError(Path("validation_steps"),
                       "an evaluator evaluates the whole set; expected none");
  }
  const v1::Data& data = job.data();
  if (!data.has_validation() && data.validation_split() == 0 &&
      !data.has_test()) {
    return ConfigError(Path("data"),
                       "has nothing to evaluate for an evaluator; expected "
                       "validation, validation_split or test");
  }
  return absl::OkStatus();
}

absl::Status CheckFiles(const v1::Job& job) {
  for (JobFile& file : FilesOf(job)) {
    if (IsRemote(file.path)) continue;
    // Which may be what the names of several files begin with.
    if (file.path == job.weights()) file.path = WeightsFilePath(file.path);
    RETURN_IF_ERROR(CheckFile(file));
  }
  return absl::OkStatus();
}

}  // namespace paceline
