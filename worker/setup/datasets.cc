#include "worker/setup/datasets.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/path.h"
#include "common/data_source/cached_source.h"
#include "common/data_source/source_fingerprint.h"
#include "common/data_source/sources.h"
#include "common/job/dataset_reading.h"
#include "common/job/job_files.h"
#include "common/limits.h"

namespace paceline {
namespace {

// Opens data sets, and checks that what phases take of them fits a model.
class Opener {
 public:
  Opener(ModelArrays model, const RemoteFiles& files, const ReadFence& fence,
         const std::function<void()>& on_progress, Datasets& datasets)
      : model_(std::move(model)),
        files_(files),
        fence_(fence),
        on_progress_(on_progress),
        datasets_(datasets) {}

  // `name`: such as "data.train", for errors.
  absl::StatusOr<const DataSource*> Open(const char* name,
                                         const v1::Dataset& named) {
    // With the files of this machine.
    v1::Dataset dataset = named;
    ASSIGN_OR_RETURN(FetchedFiles fetched,
                     FetchData(files_, Contents::kFeaturesAndLabels, Path(name),
                               on_progress_, dataset));
    std::move(fetched.begin(), fetched.end(),
              std::back_inserter(datasets_.files));
    const auto files = [&] {
      return named.cache().empty() ? "" : FilesFingerprint(named, dataset);
    };
    const std::string files_before = files();
    absl::StatusOr<std::unique_ptr<const DataSource>> source =
        fence_.Run([&] { return OpenDataSource(dataset); });
    if (!source.ok()) return Annotate(source.status(), name);
    if (files() != files_before) {
      return absl::AbortedError(absl::StrCat(
          name, ".cache: the files of the data changed while they were read"));
    }
    source = WithCache(named, dataset, *std::move(source));
    if (!source.ok()) return Annotate(source.status(), name);
    datasets_.sources.push_back(*std::move(source));
    return datasets_.sources.back().get();
  }

  // Returns the number of examples in an epoch without steps_per_epoch.
  absl::StatusOr<int64_t> Add(const char* name, v1::Phase phase,
                              const v1::Dataset& dataset, PhaseData data) {
    const int64_t count = data.order.count;
    // Passes that replicas make at the same time have parts of the same steps.
    const int64_t passes = data.order.ExamplesInRound() / count;
    const int64_t batch = data.step_size / std::gcd(data.step_size, passes);
    const int64_t examples =
        dataset.drop_remainder() ? count / batch * batch : count;
    if (examples > limits::kMaxExamples / data.order.epoch_passes) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ".repeat: ", RepeatOf(dataset), ": an epoch of ",
                       data.order.epoch_passes, " passes over ", examples,
                       " examples; expected at most ", limits::kMaxExamples,
                       " examples in an epoch"));
    }
    if (examples == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ".drop_remainder: ", count,
                       " examples leave no batch of ", batch));
    }
    data.order.pass_examples = examples;
    datasets_.phases[phase] = data;
    RETURN_IF_ERROR(Annotate(CheckFits(data, model_), name));
    return data.order.epoch_passes * examples;
  }

 private:
  // Behind the cache that the data set asks for. Not inside the fence, which
  // hides how much memory there is, and lets nobody write.
  static absl::StatusOr<std::unique_ptr<const DataSource>> WithCache(
      const v1::Dataset& named, const v1::Dataset& opened,
      std::unique_ptr<const DataSource> source) {
    const std::string& cache = named.cache();
    if (cache.empty()) return source;
    if (cache == kMemoryCache) return CacheInMemory(std::move(source));
    const std::string fingerprint = SourceFingerprint(named, opened, *source);
    absl::StatusOr<std::unique_ptr<const DataSource>> cached =
        CacheInFile(std::move(source), cache, fingerprint);
    if (!cached.ok()) return Annotate(cached.status(), "cache");
    return cached;
  }

  const ModelArrays model_;
  const RemoteFiles& files_;
  const ReadFence& fence_;
  const std::function<void()>& on_progress_;
  Datasets& datasets_;
};

// Where replicas have files or passes of their own, a step may not have the end
// of one pass and the start of the next (EpochOrder).
absl::Status CheckRepeat(const v1::Dataset& train) {
  const int64_t repeat = RepeatOf(train);
  if (repeat == 1 || train.drop_remainder()) return absl::OkStatus();
  return ConfigError(
      Path("data").Key("train").Key("repeat"),
      absl::StrCat("expected 1, got ", repeat,
                   ", with this auto_shard_policy; or drop_remainder: true, or "
                   "auto_shard_policy: data"));
}

// Divides the examples among the replicas of `workers` as
// data.train.auto_shard_policy says.
absl::Status Shard(const v1::Job& job, const DataSource& train, int workers,
                   PhaseData& training) {
  const Path path = Path("data").Key("train").Key("auto_shard_policy");
  const int replicas = ReplicaCount(job, workers);
  const bool has_own = OrderReplicas(job, workers) > 0;
  OrderOptions& order = training.order;
  order.replicas = replicas;
  order.step_size = training.step_size;
  const v1::AutoShardPolicy policy = job.data().train().auto_shard_policy();
  if (has_own && (policy == v1::AUTO_SHARD_POLICY_OFF ||
                  policy == v1::AUTO_SHARD_POLICY_FILE)) {
    RETURN_IF_ERROR(CheckRepeat(job.data().train()));
  }
  if (policy == v1::AUTO_SHARD_POLICY_OFF) {
    if (order.count > limits::kMaxExamples / replicas) {
      return ConfigError(
          path, absl::StrCat("off: ", order.count, " examples for each of ",
                             replicas, " replicas; expected at most ",
                             limits::kMaxExamples, " in an epoch"));
    }
    order.epoch_passes *= replicas;
    if (has_own) order.sharding = Sharding::kOwnPasses;
  }
  if (policy != v1::AUTO_SHARD_POLICY_FILE) {
    return absl::OkStatus();
  }
  order.files = train.Files();
  order.sharding = has_own ? Sharding::kOwnFiles : Sharding::kFileAfterFile;
  const int64_t files = order.files.FilesWithin(order.count);
  if (has_own && files < replicas) {
    return ConfigError(
        path, absl::StrCat("file: the examples to train on lie in ", files,
                           files == 1 ? " file" : " files", ", but there are ",
                           replicas,
                           " replicas; expected at least a file for each, or "
                           "auto, data or off"));
  }
  return absl::OkStatus();
}

// The part of data.train that is used for training.
absl::StatusOr<PhaseData> TrainingPart(const v1::Job& job,
                                       const DataSource& train,
                                       int64_t step_size) {
  const v1::Data& data = job.data();
  PhaseData training = WholeOf(train, data.train(), job.seed(), step_size);
  training.order.count =
      TrainingExamples(train.example_count(), data.validation_split());
  training.order.shuffle = data.train().shuffle();
  training.order.shuffle_buffer_size = data.train().shuffle_buffer_size();
  training.order.seed = job.seed();
  training.order.epoch_examples =
      static_cast<int64_t>(job.steps_per_epoch()) * step_size;
  if (training.order.count < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "data.validation_split: ", data.validation_split(), " of ",
        train.example_count(), " examples leaves none to train on"));
  }
  return training;
}

}  // namespace

PhaseData WholeOf(const DataSource& source, const v1::Dataset& dataset,
                  uint64_t seed, int64_t step_size) {
  PhaseData phase;
  phase.step_size = step_size;
  phase.source = &source;
  phase.order.count = source.example_count();
  phase.order.epoch_passes = RepeatOf(dataset);
  phase.prefetch = static_cast<int>(PrefetchOf(dataset));
  phase.scale = dataset.scale();
  phase.steps = StepOptionsOf(dataset, seed);
  phase.is_stream = IsStream(dataset) || source.is_stream();
  phase.skips_errors = dataset.on_error() == v1::ON_DATA_ERROR_SKIP;
  return phase;
}

absl::Status CheckFits(const PhaseData& phase, const ModelArrays& model) {
  ASSIGN_OR_RETURN(const ExampleSteps steps,
                   ExampleSteps::Create(phase.steps, phase.source->spec()));
  return CheckFits(*phase.source, steps.spec(), model);
}

ModelArrays InputArraysOf(const Graph& graph) {
  ModelArrays arrays;
  for (const int input : graph.inputs) {
    const Node& node = graph.nodes[input];
    arrays.inputs.push_back({node.layer->name, node.output_shape});
  }
  return arrays;
}

ModelArrays ModelArraysOf(const JobModel& model) {
  const Graph& graph = model.graph;
  ModelArrays arrays = InputArraysOf(graph);
  for (const OutputSpec& spec : SpecsOf(model.objectives)) {
    arrays.has_sample_weights = spec.has_sample_weights;
    ModelArray& output = arrays.outputs.emplace_back();
    output.name = graph.output_name(spec.output);
    const Shape& shape = graph.output_shape(spec.output);
    output.shape = spec.LabelShape(shape);
    output.classes = spec.LabelIds(shape);
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (model.objectives[i].has_labels()) continue;
    arrays.unread_outputs.push_back(graph.output_name(i));
  }
  return arrays;
}

absl::StatusOr<Datasets> OpenDatasets(
    const v1::Job& job, const JobModel& model, int workers,
    const std::set<v1::Phase>& phases, const RemoteFiles& files,
    const ReadFence& fence, const std::function<void()>& on_progress) {
  const int64_t batch = WorkerBatchSize(job, workers);
  Datasets datasets;
  Opener opener(ModelArraysOf(model), files, fence, on_progress, datasets);
  const v1::Data& data = job.data();
  if (data.has_test() && phases.contains(v1::PHASE_TEST)) {
    ASSIGN_OR_RETURN(const DataSource* source,
                     opener.Open("data.test", data.test()));
    ASSIGN_OR_RETURN(
        const int64_t examples,
        opener.Add("data.test", v1::PHASE_TEST, data.test(),
                   WholeOf(*source, data.test(), job.seed(), batch)));
    datasets.sizes.set_test_examples(examples);
  }
  const bool validates = phases.contains(v1::PHASE_VALIDATION);
  if (data.has_validation() && validates) {
    ASSIGN_OR_RETURN(const DataSource* source,
                     opener.Open("data.validation", data.validation()));
    ASSIGN_OR_RETURN(
        const int64_t examples,
        opener.Add("data.validation", v1::PHASE_VALIDATION, data.validation(),
                   WholeOf(*source, data.validation(), job.seed(), batch)));
    datasets.sizes.set_validation_examples(examples);
  }
  const bool splits = validates && data.validation_split() > 0;
  if (!splits && !phases.contains(v1::PHASE_TRAIN)) return datasets;

  ASSIGN_OR_RETURN(const DataSource* train,
                   opener.Open("data.train", data.train()));
  ASSIGN_OR_RETURN(PhaseData training,
                   TrainingPart(job, *train, StepBatchSize(job, workers)));
  if (phases.contains(v1::PHASE_TRAIN)) {
    RETURN_IF_ERROR(Shard(job, *train, workers, training));
    ASSIGN_OR_RETURN(
        const int64_t examples,
        opener.Add("data.train", v1::PHASE_TRAIN, data.train(), training));
    datasets.sizes.set_train_examples(examples);
  }
  const int64_t rest = train->example_count() - training.order.count;
  if (splits && rest > 0) {
    PhaseData split = WholeOf(*train, data.train(), job.seed(), batch);
    split.steps.without_random = true;
    split.order.first = training.order.count;
    split.order.count = rest;
    split.order.epoch_passes = 1;
    ASSIGN_OR_RETURN(const int64_t examples,
                     opener.Add("data.validation_split", v1::PHASE_VALIDATION,
                                data.train(), split));
    datasets.sizes.set_validation_examples(examples);
  }
  return datasets;
}

std::map<v1::Phase, PhaseData> PhasesOfReplica(const Datasets& datasets,
                                               const v1::Job& job, int rank,
                                               int workers, int device) {
  const int devices = ReplicaCount(job, 1);
  std::map<v1::Phase, PhaseData> phases = datasets.phases;
  for (auto& [phase, data] : phases) {
    data.rank = device;
    data.replica_count = devices;
    if (phase != v1::PHASE_TRAIN || !IsSynchronous(job)) continue;
    data.rank = rank * devices + device;
    data.replica_count = workers * devices;
  }
  return phases;
}

}  // namespace paceline
