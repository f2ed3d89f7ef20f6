#include "common/job/job_fields.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/config/keras_object.h"
#include "common/config/message_fields.h"
#include "common/data_source/sources.h"
#include "common/job/backup.h"
#include "common/job/fit_fields.h"
#include "common/job/inner_model_files.h"
#include "common/job/job_phases.h"
#include "common/job/objective_fields.h"
#include "common/limits.h"
#include "common/strategy/strategy_traits.h"

namespace paceline {

// An entry of a model's layers.
struct LayerEntry {
  v1::KerasObject object;
};

template <>
struct Codec<LayerEntry> {
  static absl::Status Read(const Value& value, const Path& path,
                           LayerEntry& out) {
    ASSIGN_OR_RETURN(const KerasObject object, ReadLayerObject(value, path));
    ASSIGN_OR_RETURN(out.object, ToProto(object, path));
    return absl::OkStatus();
  }
  static Value Write(const LayerEntry& m) {
    return WriteKerasObject(FromProto(m.object));
  }
  static std::string Type() { return "layer"; }
  static void VisitFiles(LayerEntry& m, const Path& path, FileVisitor visit) {
    VisitInnerModelFiles(m.object, path, visit);
  }
};

namespace {

// Accessors for one of the two batch sizes, at most one of which may be set.
Accessors<v1::Job, std::optional<int64_t>> BatchSize(
    v1::Job::BatchCase which, uint32_t (v1::Job::*get)() const,
    void (v1::Job::*set)(uint32_t)) {
  return {[which, get](const v1::Job& job) {
            return job.batch_case() == which
                       ? std::optional<int64_t>((job.*get)())
                       : std::nullopt;
          },
          [set](v1::Job& job, std::optional<int64_t> size) {
            if (size) (job.*set)(static_cast<uint32_t>(*size));
          }};
}

Accessors<v1::Model, std::vector<LayerEntry>> Layers() {
  return {[](const v1::Model& model) {
            std::vector<LayerEntry> entries;
            for (const v1::KerasObject& layer : model.layers()) {
              entries.push_back({layer});
            }
            return entries;
          },
          [](v1::Model& model, std::vector<LayerEntry> entries) {
            model.clear_layers();
            for (LayerEntry& entry : entries) {
              *model.add_layers() = std::move(entry.object);
            }
          }};
}

Accessors<v1::Model, std::vector<std::string>> Outputs() {
  return {[](const v1::Model& model) {
            return std::vector<std::string>(model.outputs().begin(),
                                            model.outputs().end());
          },
          [](v1::Model& model, const std::vector<std::string>& names) {
            model.mutable_outputs()->Assign(names.begin(), names.end());
          }};
}

v1::Job DefaultJob() {
  v1::Job job;
  job.set_epochs(1);
  job.set_consistency(v1::CONSISTENCY_ASYNC);
  job.set_wire_precision(v1::WIRE_PRECISION_FLOAT32);
  job.set_device("auto");
  job.set_precision(v1::PRECISION_FLOAT32);
  job.set_devices(1);
  job.set_steps_per_execution(1);
  job.set_terminate_on_nan(true);
  job.set_progress_style(v1::PROGRESS_STYLE_KERAS3);
  return job;
}

}  // namespace

namespace v1 {

absl::Span<const EnumName<Consistency>> EnumNames(Consistency) {
  static constexpr EnumName<Consistency> kNames[] = {
      {CONSISTENCY_ASYNC, "async"},
      {CONSISTENCY_BOUNDED, "bounded"},
      {CONSISTENCY_SYNC, "sync"}};
  return kNames;
}

absl::Span<const EnumName<WirePrecision>> EnumNames(WirePrecision) {
  static constexpr EnumName<WirePrecision> kNames[] = {
      {WIRE_PRECISION_FLOAT32, "float32"},
      {WIRE_PRECISION_FLOAT16, "float16"},
      {WIRE_PRECISION_BFLOAT16, "bfloat16"}};
  return kNames;
}

absl::Span<const EnumName<Precision>> EnumNames(Precision) {
  static constexpr EnumName<Precision> kNames[] = {
      {PRECISION_FLOAT32, "float32"},
      {PRECISION_TF32, "tf32"},
      {PRECISION_MIXED_FLOAT16, "mixed_float16"},
      {PRECISION_MIXED_BFLOAT16, "mixed_bfloat16"}};
  return kNames;
}

const FieldTable<Model>& FieldsOf(const Model*) {
  static const auto& table = *new FieldTable<Model>(
      "model", "A graph of layers.",
      {Optional("name", Text(&Model::name, &Model::mutable_name),
                "Name of the model."),
       Required("layers", Layers(),
                "The layers in order, the first an Input. Each reads the one "
                "before it, or the layers that its `inputs` names."),
       WrittenUnlessDefault(
           Optional("outputs", Outputs(),
                    "The names of the layers whose outputs are the model's; by "
                    "default the last layer alone. Losses, metrics and labels "
                    "name a `Call` among them by its layer, as in Keras."))},
      [] {
        Model model;
        model.set_name("sequential");
        return model;
      });
  return table;
}

const FieldTable<Job>& FieldsOf(const Job*) {
  static const auto& table = *new FieldTable<Job>(
      "job", "A training job.",
      {Optional("name", Text(&Job::name, &Job::mutable_name),
                "Name shown to people; by default that of the file."),
       Required("strategy", Scalar(&Job::strategy, &Job::set_strategy),
                "How replicas of the model combine their gradients."),
       Optional("cluster",
                Inner(&Job::has_cluster, &Job::cluster, &Job::mutable_cluster),
                "How many tasks there are."),
       Optional("seed", Whole(&Job::seed, &Job::set_seed), AtLeast(0),
                "Seed of everything random."),
       Required("model",
                Inner(&Job::has_model, &Job::model, &Job::mutable_model),
                "What is trained; or the path of a `.keras` file, a legacy "
                "`.h5`, or the `.json` of Keras' to_json(). Its `loss`, "
                "`loss_weights`, `optimizer`, `metrics` and "
                "`weighted_metrics` then are defaults."),
       LossField(),
       Required(
           "optimizer",
           Inner(&Job::has_optimizer, &Job::optimizer, &Job::mutable_optimizer),
           "The optimizer."),
       LossWeightsField(),
       ClassWeightField(),
       MetricsField(),
       WeightedMetricsField(),
       Required("data", Inner(&Job::has_data, &Job::data, &Job::mutable_data),
                "The examples."),
       Optional(
           "batch_size_per_replica",
           BatchSize(Job::kBatchSizePerReplica, &Job::batch_size_per_replica,
                     &Job::set_batch_size_per_replica),
           Between(1, limits::kMaxBatchSize),
           "Examples in a step of one replica; this or "
           "`global_batch_size`."),
       Excluding(
           {"batch_size_per_replica"},
           Optional("global_batch_size",
                    BatchSize(Job::kGlobalBatchSize, &Job::global_batch_size,
                              &Job::set_global_batch_size),
                    Between(1, limits::kMaxBatchSize),
                    "Examples in a step of all replicas together.")),
       Optional("epochs", Whole(&Job::epochs, &Job::set_epochs),
                Between(1, std::numeric_limits<int32_t>::max()),
                "Passes over the data."),
       InitialEpochField(),
       PhasesField(),
       Optional("steps_per_epoch",
                Whole(&Job::steps_per_epoch, &Job::set_steps_per_epoch),
                Between(0, std::numeric_limits<int32_t>::max()),
                "Steps in an epoch, the data being repeated as needed, so that "
                "a batch may have the end of one pass and the start of the "
                "next; 0: until the data ends once."),
       ValidationFreqField(),
       ValidationStepsField(),
       Optional("checkpoint",
                Inner(&Job::has_checkpoint, &Job::checkpoint,
                      &Job::mutable_checkpoint),
                "When checkpoints are written; by default never."),
       Optional("consistency", Scalar(&Job::consistency, &Job::set_consistency),
                "When parameter servers apply a gradient: `async` at once; "
                "`bounded` at once, but a worker more than `max_staleness` "
                "steps ahead of the slowest then waits; `sync` when those of "
                "all workers have come, as one update."),
       Optional("max_staleness",
                Whole(&Job::max_staleness, &Job::set_max_staleness),
                Between(0, std::numeric_limits<int32_t>::max()),
                "Steps by which a worker may be ahead under `consistency: "
                "bounded`."),
       Optional("pipeline", Whole(&Job::pipeline, &Job::set_pipeline),
                Between(0, 1),
                "1: a worker begins a step while the pushes of the last one "
                "are under way. Its gradients are one step staler, and it has "
                "two more copies of the variables. Only with `consistency: "
                "async`."),
       Optional("wire_precision",
                Scalar(&Job::wire_precision, &Job::set_wire_precision),
                "Type in which gradients travel between workers that sum them "
                "up: `float16` and `bfloat16` halve the bytes and round."),
       Optional("evaluator", Scalar(&Job::evaluator, &Job::set_evaluator),
                "Whether a local cluster, or a job of a service, gets a task "
                "that evaluates each checkpoint beside training, on "
                "`data.validation` (or the "
                "split), else `data.test`, into `evaluator.csv`. With "
                "TF_CONFIG, start a task of type `evaluator` instead."),
       Optional("partitioner",
                Inner(&Job::has_partitioner, &Job::partitioner,
                      &Job::mutable_partitioner),
                "How variables are cut; by default by balance."),
       Optional(
           "device", Text(&Job::device, &Job::mutable_device),
           "`auto`, `cpu`, `cuda`, `cuda:1`, or `reference`, which is slow "
           "and exact."),
       Optional("devices", Whole(&Job::devices, &Job::set_devices),
                Between(1, limits::kMaxDevices),
                "Devices of a worker, each with a replica; on the CPU they "
                "split its cores."),
       Optional("log_steps", Scalar(&Job::log_steps, &Job::set_log_steps),
                "Whether `steps.csv` gets a row a step."),
       Optional("precision", Scalar(&Job::precision, &Job::set_precision),
                "What is computed in: `float32`; `tf32`, in which a GPU may "
                "round what it multiplies; `mixed_bfloat16` and "
                "`mixed_float16`, in which layers but the last compute in that "
                "type, with variables and updates in float32, the second with "
                "a dynamic loss scale. A CPU has float32 and, with AVX512-BF16 "
                "or AMX, mixed_bfloat16, of which its convolutions and matrix "
                "products are; where `device: auto` takes one that lacks it, "
                "that computes float32."),
       Optional("deterministic",
                Scalar(&Job::deterministic, &Job::set_deterministic),
                "Whether a GPU uses only algorithms that give the same bits at "
                "each run; the CPU has no others."),
       Optional("autotune", Scalar(&Job::autotune, &Job::set_autotune),
                "Whether a GPU measures the algorithms of convolutions as a "
                "model is compiled, and takes the fastest; else, and with "
                "`deterministic`, it chooses by rule, as the CPU does."),
       Optional("device_memory_limit",
                Whole(&Job::device_memory_limit, &Job::set_device_memory_limit),
                AtLeast(0),
                "Bytes of a GPU's memory that a replica may allocate; 0: all."),
       Optional("steps_per_execution",
                Whole(&Job::steps_per_execution, &Job::set_steps_per_execution),
                Between(1, limits::kMaxStepsPerExecution),
                "Steps that a GPU which updates the variables itself launches "
                "at once; elsewhere steps run one by one."),
       Optional("terminate_on_nan",
                Scalar(&Job::terminate_on_nan, &Job::set_terminate_on_nan),
                "Whether the first loss of a step of training that is infinite "
                "or no number ends the job, as Keras' callback of this name "
                "does; else it is only told."),
       Optional("callbacks", Repeated(&Job::callbacks, &Job::mutable_callbacks),
                "Keras' callbacks, which get the end of each epoch in this "
                "order."),
       VerboseField(),
       ProgressField(),
       Optional("weights", File(&Job::weights, &Job::mutable_weights),
                "Initial values of all variables: a `.keras`, `.weights.h5`, "
                "`.h5` or `.safetensors` file of a model with the same layers, "
                "or the prefix or `.index` file of a checkpoint of "
                "TensorFlow; by default that of `model`, if that is a file, "
                "else random ones by the seed."),
       Optional("weights_by_name",
                Scalar(&Job::weights_by_name, &Job::set_weights_by_name),
                "Whether the layers take their values from `weights` by their "
                "names, as Keras' load_weights(by_name=True, "
                "skip_mismatch=True) does: layers that the file does not have, "
                "or has in other shapes, begin as they would without "
                "`weights`. What matched is told.")},
      DefaultJob);
  return table;
}

}  // namespace v1

Value WriteJob(const v1::Job& job) {
  v1::Job own = job;
  DropBackupPolicy(own);
  Value document = Codec<v1::Job>::Write(own);
  if (job.phases_size() == 0) return document;
  std::erase_if(document.as_map(), [](const Value::Entry& entry) {
    return std::find(std::begin(kFieldsOfPhases), std::end(kFieldsOfPhases),
                     entry.key) != std::end(kFieldsOfPhases);
  });
  return document;
}

std::vector<ClassReference> JobReferences() {
  std::vector<ClassReference> references = {
      FieldsOf(static_cast<const v1::Job*>(nullptr)).Reference(),
      FieldsOf(static_cast<const v1::ClusterSize*>(nullptr)).Reference(),
      FieldsOf(static_cast<const v1::Model*>(nullptr)).Reference(),
      FieldsOf(static_cast<const v1::Data*>(nullptr)).Reference(),
      FieldsOf(static_cast<const v1::Dataset*>(nullptr)).Reference()};
  for (ClassReference& source : SourceReferences()) {
    references.push_back(std::move(source));
  }
  references.push_back(
      FieldsOf(static_cast<const v1::TrainingPhase*>(nullptr)).Reference());
  references.push_back(
      FieldsOf(static_cast<const v1::CheckpointPolicy*>(nullptr)).Reference());
  references.push_back(
      FieldsOf(static_cast<const v1::Partitioner*>(nullptr)).Reference());
  return references;
}

}  // namespace paceline
