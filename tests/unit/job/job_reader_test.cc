#include "common/job/job_reader.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/config/keras_object.h"
#include "common/job/job_fields.h"
#include "common/job/job_files.h"
#include "common/job/job_fingerprint.h"
#include "common/model/build_graph.h"
#include "common/model/graph.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

// Each field on a line of its own, for the tests of lines.
constexpr char kJob[] = R"(strategy: parameter_server
model:
  layers:
    - Input: {shape: [28, 28, 1]}
    - Conv2D:
        filters: 32
        kernel_size: 3
    - Flatten:
    - Dense: {units: 10}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer:
  Adam:
    learning_rate: 0.001
metrics:
  - accuracy
data:
  train:
    idx:
      features: images.gz
      labels: /data/labels.gz
batch_size_per_replica: 64
)";

absl::StatusOr<v1::Job> Read(const std::string& text,
                             const std::vector<std::string>& overrides = {},
                             JobReaderOptions options = {
                                 .check_files = false}) {
  return ReadJob(text, "/jobs/fashion.yaml", overrides, options);
}

TEST(JobReader, FillsDefaultsInAndMakesPathsAbsolute) {
  const auto job = Read(kJob);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->name(), "fashion");
  EXPECT_EQ(job->strategy(), v1::STRATEGY_PARAMETER_SERVER);
  EXPECT_EQ(job->cluster().ps(), 1);
  EXPECT_EQ(job->cluster().worker(), 1);
  EXPECT_EQ(job->model().name(), "sequential");
  ASSERT_EQ(job->model().layers_size(), 4);
  EXPECT_EQ(job->model().layers(1).class_name(), "Conv2D");
  EXPECT_EQ(FromProto(job->model().layers(1)).config.Find("filters")->as_int(),
            32);
  EXPECT_EQ(job->metrics(0).class_name(), "accuracy");
  EXPECT_EQ(job->data().train().idx().features(), "/jobs/images.gz");
  EXPECT_EQ(job->data().train().idx().labels(), "/data/labels.gz");
  EXPECT_EQ(job->data().train().scale(), 1);
  EXPECT_FALSE(job->data().train().shuffle());
  EXPECT_EQ(job->batch_size_per_replica(), 64);
  EXPECT_EQ(job->epochs(), 1);
  EXPECT_EQ(job->seed(), 0);
  EXPECT_FALSE(job->has_checkpoint());
  EXPECT_EQ(job->consistency(), v1::CONSISTENCY_ASYNC);
  EXPECT_EQ(job->device(), "auto");
  EXPECT_EQ(job->steps_per_execution(), 1);
}

TEST(JobReader, ReadsEveryField) {
  const auto job = Read(absl::StrReplaceAll(
      kJob,
      {{"batch_size_per_replica: 64",
        "global_batch_size: 128\nname: n\nseed: 7\nepochs: 3\n"
        "steps_per_epoch: 9\ncluster: {ps: 2, worker: 4}\n"
        "checkpoint: {every_steps: 10, keep: 2}\nconsistency: async\n"
        "partitioner: {max_size: 4096}\ndevice: reference\nlog_steps: true\n"
        "steps_per_execution: 8\n"
        "precision: float32\ndeterministic: true\nautotune: true"},
       {"labels: /data/labels.gz",
        "labels: l\n    scale: 0.5\n    shuffle: 1000\n  validation_split: "
        "0.1\n  test:\n    idx: {features: f, labels: l}\n    shuffle: "
        "true"}}));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->name(), "n");
  EXPECT_EQ(job->seed(), 7);
  EXPECT_EQ(job->epochs(), 3);
  EXPECT_EQ(job->steps_per_epoch(), 9);
  EXPECT_EQ(job->cluster().ps(), 2);
  EXPECT_EQ(job->cluster().worker(), 4);
  EXPECT_EQ(job->checkpoint().every_epochs(), 0);
  EXPECT_EQ(job->checkpoint().every_steps(), 10);
  EXPECT_EQ(job->checkpoint().keep(), 2);
  EXPECT_EQ(job->partitioner().kind(), v1::Partitioner::KIND_MAX_SIZE);
  EXPECT_EQ(job->partitioner().bytes(), 4096);
  EXPECT_EQ(job->device(), "reference");
  EXPECT_TRUE(job->log_steps());
  EXPECT_EQ(job->precision(), v1::PRECISION_FLOAT32);
  EXPECT_TRUE(job->deterministic());
  EXPECT_TRUE(job->autotune());
  EXPECT_EQ(job->steps_per_execution(), 8);
  EXPECT_EQ(job->data().train().scale(), 0.5);
  EXPECT_TRUE(job->data().train().shuffle());
  EXPECT_EQ(job->data().train().shuffle_buffer_size(), 1000);
  EXPECT_EQ(job->data().validation_split(), 0.1);
  EXPECT_TRUE(job->data().test().shuffle());
  EXPECT_EQ(job->data().test().shuffle_buffer_size(), 0);
  EXPECT_EQ(job->global_batch_size(), 128);
}

// As a walk over files does, which sets what it got.
TEST(JobReader, ListsReplaceWhatWasThere) {
  const auto job = Read(kJob);
  ASSERT_TRUE(job.ok()) << job.status();
  v1::Job again = *job;
  const auto& fields = FieldsOf(&again);
  ASSERT_TRUE(fields.ReadInto(fields.Write(*job), Path(), again).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(again, *job));
  v1::Model& model = *again.mutable_model();
  const auto& model_fields = FieldsOf(&model);
  ASSERT_TRUE(
      model_fields.ReadInto(model_fields.Write(model), Path(), model).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(again, *job));
}

TEST(JobReader, ReadsMixedPrecision) {
  const std::pair<const char*, v1::Precision> cases[] = {
      {"device: auto\nprecision: mixed_float16", v1::PRECISION_MIXED_FLOAT16},
      {"device: cuda\nprecision: mixed_bfloat16", v1::PRECISION_MIXED_BFLOAT16},
      {"device: cpu\nprecision: mixed_bfloat16", v1::PRECISION_MIXED_BFLOAT16},
  };
  for (const auto& [fields, precision] : cases) {
    const auto job = Read(absl::StrCat(kJob, fields));
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->precision(), precision);
  }
}

TEST(JobReader, ReadsWhatOnlyAGpuHeeds) {
  const auto defaults = Read(kJob);
  EXPECT_EQ(defaults->precision(), v1::PRECISION_FLOAT32);
  EXPECT_FALSE(defaults->deterministic());
  EXPECT_FALSE(defaults->autotune());
  EXPECT_EQ(defaults->device_memory_limit(), 0);
  for (const std::string device : {"auto", "cuda", "cuda:1"}) {
    const auto job =
        Read(absl::StrCat(kJob, "device: ", device,
                          "\nprecision: tf32\ndevice_memory_limit: 8000000"));
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->precision(), v1::PRECISION_TF32);
    EXPECT_EQ(job->device_memory_limit(), 8'000'000);
  }
}

TEST(JobReader, CheckpointsEveryEpochUnlessStepsAreGiven) {
  EXPECT_EQ(
      Read(absl::StrCat(kJob, "checkpoint: {}"))->checkpoint().every_epochs(),
      1);
  EXPECT_EQ(Read(absl::StrCat(kJob, "checkpoint: {every_steps: 5}"))
                ->checkpoint()
                .every_epochs(),
            0);
}

TEST(JobReader, WritesWhatItReads) {
  const auto job = Read(
      absl::StrCat(absl::StrReplaceAll(
                       kJob, {{"- Flatten:",
                               "- {Concatenate: {}, inputs: [conv2d, conv2d]}\n"
                               "    - Flatten:"}}),
                   "checkpoint: {every_steps: 5}\npartitioner: {fixed: 3}\n"));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->model().layers(2).inputs_size(), 2);
  const Value written = WriteJob(*job);
  const auto again = FieldsOf(&*job).Read(written, Path());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(MessageDifferencer::Equals(*again, *job)) << again->DebugString();
}

TEST(JobReader, AppliesOverridesBeforeItReads) {
  const auto job =
      Read(kJob, {"epochs=5", "cluster.worker=3", "optimizer=sgd",
                  "model.layers[1].Conv2D.filters=8", "metrics=[]",
                  "model.layers[3]={Dense: {units: 20}}", "name='12'",
                  "data.train.idx.features=../x=y.gz", "checkpoint="});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->epochs(), 5);
  EXPECT_EQ(job->cluster().worker(), 3);
  EXPECT_EQ(job->optimizer().class_name(), "sgd");
  EXPECT_EQ(FromProto(job->model().layers(1)).config.Find("filters")->as_int(),
            8);
  EXPECT_EQ(FromProto(job->model().layers(3)).config.Find("units")->as_int(),
            20);
  EXPECT_EQ(job->metrics_size(), 0);
  EXPECT_EQ(job->name(), "12");
  EXPECT_EQ(job->data().train().idx().features(), "/x=y.gz");
  EXPECT_FALSE(job->has_checkpoint());
}

TEST(JobReader, RefusesBadOverrides) {
  const std::pair<std::string, std::string> cases[] = {
      {"epochs", "override \"epochs\": expected path.to.field=value"},
      {"=3", "expected path.to.field=value"},
      {"model.layers[9].Dense.units=1",
       "model.layers[9]: the list has 4 elements"},
      {"model.layers[x]=1", "expected an index such as [0]"},
      {"model.layers.Dense=1",
       "model.layers: is a list, whose elements are named by their index: "
       "model.layers[0].Dense"},
      {"strategy.x=1", "strategy: expected a map, got \"parameter_server\""},
      {"model..layers=1", "a key of the path is empty"},
      {"epochs=[1", "override \"epochs=[1\":1: "},
      {"strategy=x", "/jobs/fashion.yaml: strategy: expected one of "},
      {"epoch=2",
       "/jobs/fashion.yaml: epoch: unknown key; did you mean "
       "\"epochs\"?"},
      {"epochs=x",
       "/jobs/fashion.yaml: epochs: expected an integer, got \"x\""},
  };
  for (const auto& [text, message] : cases) {
    const absl::Status status = Read(kJob, {text}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

struct Malformed {
  // Replaced in kJob.
  std::string from;
  std::string to;
  absl::StatusCode code;
  // After "/jobs/fashion.yaml:".
  std::string message;
};

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

void ExpectRefused(const Malformed& each) {
  ASSERT_THAT(std::string(kJob), HasSubstr(each.from));
  const absl::Status status =
      Read(absl::StrReplaceAll(kJob, {{each.from, each.to}})).status();
  EXPECT_EQ(status.code(), each.code) << each.to;
  EXPECT_THAT(std::string(status.message()),
              StartsWith(absl::StrCat("/jobs/fashion.yaml:", each.message)));
}

TEST(JobReader, RefusesWrongFieldsWithLineAndPath) {
  const Malformed cases[] = {
      {kJob, "", kInvalid, " empty; expected a job"},
      {kJob, "[]", kInvalid, "1: expected a map (job), got []"},
      {"batch_size_per_replica: 64", "batch_size: 64", kInvalid,
       "21: batch_size: unknown key; "},
      {"strategy: parameter_server", "strategy: parameter_sever", kInvalid,
       "1: strategy: expected one of parameter_server, multi_worker_mirrored, "
       "mirrored, central_storage, got \"parameter_sever\""},
      {"strategy: parameter_server", "seed: 1", kInvalid,
       "1: strategy: missing; expected "},
      {"strategy: parameter_server", "strategy: parameter_server\nseed: -1",
       kInvalid, "2: seed: must be at least 0, got -1"},
      {"64", "0", kInvalid,
       "21: batch_size_per_replica: must be from 1 to 1048576, got 0"},
      {"64", "1e9", kInvalid,
       "21: batch_size_per_replica: must be from 1 to 1048576, got "},
      {"64", "\"64\"", kInvalid,
       "21: batch_size_per_replica: expected an integer, got \"64\""},
      {"64", "64\nepochs: 9999999999", kInvalid,
       "22: epochs: must be from 1 to 2147483647, got 9999999999"},
      {"64", "64\ncluster: {ps: 1, workers: 2}", kInvalid,
       "22: cluster.workers: unknown key; did you mean \"worker\"?"},
      {"64", "64\ncluster:\n  worker: 10001", kInvalid,
       "23: cluster.worker: must be from 1 to 10000, got 10001"},
      {"64", "64\nname: a/b", kInvalid, "22: name: expected 1 to 128 bytes"},
      {"64", "64\ndevice: gpu", kInvalid,
       "22: device: unknown device \"gpu\"; expected auto, cpu, reference, "
       "cuda or cuda:N"},
      {"64", "64\nbatch_size_per_replica: 65", kInvalid,
       "22: repeated key \"batch_size_per_replica\"; it is already on line "
       "21"},
      {"features:", "feature:", kInvalid,
       "19: data.train.idx.feature: unknown key; did you mean \"features\"?"},
      {"images.gz", "3", kInvalid,
       "19: data.train.idx.features: expected a string, got 3"},
      {"images.gz", "\"\"", kInvalid,
       "19: data.train.idx.features: the path is empty"},
      {"/data/labels.gz", "l\n    shuffle: 0", kInvalid,
       "21: data.train.shuffle: must be at least 1, got 0"},
      {"/data/labels.gz", "l\n    shuffle: yes", kInvalid,
       "21: data.train.shuffle: expected true, false or the size of a buffer, "
       "got \"yes\""},
      {"/data/labels.gz", "l\n    scale: .nan", kInvalid,
       "21: data.train.scale: expected a finite number"},
  };
  for (const Malformed& each : cases) ExpectRefused(each);
}

TEST(JobReader, RefusesWrongKerasObjectsWithLineAndPath) {
  const Malformed cases[] = {
      {"filters: 32", "filter: 32", kInvalid,
       "6: model.layers[1].filter: unknown key; did you mean \"filters\"?"},
      {"kernel_size: 3", "kernel_size: [3, 0]", kInvalid,
       "7: model.layers[1].kernel_size[1]: must be from 1 to "},
      {"- Flatten:", "- Flaten:", kInvalid,
       "8: model.layers[2]: unknown layer \"Flaten\"; did you mean "
       "\"Flatten\"?"},
      {"Dense: {units: 10}", "Dense: {}", kInvalid,
       "9: model.layers[3].units: missing; expected integer"},
      {"[28, 28, 1]", "[28, 28, 99999999999]", kInvalid, "4: model.layers[0]"},
      {"[28, 28, 1]", "[1, 1, 1, 1, 1, 1, 1, 1, 1]", kInvalid,
       "4: model.layers[0]"},
      {"units: 10", "units: 99999999999999", kInvalid, "9: model.layers[3]"},
      {"kernel_size: 3", "kernel_size: 30", kInvalid, "5: model.layers[1]: "},
      {"from_logits: true", "from_logits: 1", kInvalid,
       "10: loss.from_logits: expected true or false, got 1"},
      {"- Flatten:", "- Softmax:", kInvalid, "10: loss: "},
      {"learning_rate: 0.001", "learning_rate: fast", kInvalid,
       "13: optimizer.learning_rate: "},
      {"Adam:", "Adan:", kInvalid, "12: optimizer: unknown optimizer \"Adan\""},
      {"Adam:", "Adafactor:", kUnimplemented, "12: optimizer: "},
      {"- Flatten:", "- inputs: [conv2d]\n      Flaten: {}", kInvalid,
       "9: model.layers[2]: unknown layer \"Flaten\""},
      {"- Flatten:",
       "- module: keras\n      class_name: Flaten\n      config: {}", kInvalid,
       "9: model.layers[2]: unknown layer \"Flaten\""},
      {"kernel_size: 3",
       "kernel_size: 3\n        kernel_initializer:\n          HeUnifrm: {}",
       kInvalid, "9: model.layers[1].kernel_initializer: unknown initializer"},
      {"kernel_size: 3",
       "kernel_size: 3\n        kernel_regularizer:\n          l3", kInvalid,
       "9: model.layers[1].kernel_regularizer: unknown regularizer"},
      {"- accuracy", "- acuracy", kInvalid,
       "15: metrics[0]: unknown metric \"acuracy\"; did you mean"},
      {"- accuracy", "- CategoricalAccuracy", kInvalid, "15: metrics[0]: "},
      {"- Flatten:", "- {Flatten: {}, inputs: [conv]}", kInvalid,
       "8: model.layers[2].inputs[0]: \"conv\" is no layer before this one; "
       "did "
       "you mean \"conv2d\"?"},
      {"- Flatten:", "- {Flatten: {}, inputs: conv2d}", kInvalid,
       "8: model.layers[2].inputs: expected list"},
      {"- accuracy", "- {accuracy: {}, inputs: [dense]}", kInvalid,
       "15: metrics[0]: expected one class"},
      {"- accuracy", "- [accuracy]", kInvalid,
       "15: metrics[0]: expected a class name or a map"},
  };
  for (const Malformed& each : cases) ExpectRefused(each);
}

TEST(JobReader, RefusesImpossibleCombinations) {
  const Malformed cases[] = {
      {"64", "64\nglobal_batch_size: 64", kInvalid,
       "22: global_batch_size: excludes batch_size_per_replica"},
      {"batch_size_per_replica: 64", "", kInvalid,
       "1: batch_size_per_replica: missing; expected this or "
       "global_batch_size"},
      {"batch_size_per_replica: 64",
       "global_batch_size: 3\ncluster: {worker: 4}", kInvalid,
       "21: global_batch_size: must be at least 1 for each of 4 workers"},
      {"64", "64\ncluster: {ps: 0}", kInvalid,
       "22: cluster.ps: strategy parameter_server needs at least 1 ps, got 0"},
      {"/data/labels.gz",
       "l\n  validation: {idx: {features: f, labels: l}}\n  "
       "validation_split: 0.1",
       kInvalid, "22: data.validation_split: excludes data.validation"},
      {"/data/labels.gz", "l\n  validation: {scale: 2}", kInvalid,
       "21: data.validation: no source; expected idx: {features: PATH, "
       "labels: PATH}"},
      {"/data/labels.gz", "l\n  validation_split: 1", kInvalid,
       "21: data.validation_split: must be at least 0 and below 1, got 1"},
      {"64", "64\ncheckpoint: {every_epochs: 0}", kInvalid,
       "22: checkpoint: expected every_epochs or every_steps above 0"},
      {"64", "64\ncheckpoint: {keep: 0}", kInvalid,
       "22: checkpoint.keep: must be from 1 to"},
      {"64", "64\npartitioner: {chunk_bytes: 100}", kInvalid,
       "22: partitioner.chunk_bytes: must be from 1024 to"},
      {"  Adam:\n    learning_rate: 0.001", "  Lamb:\npartitioner: {fixed: 2}",
       kInvalid,
       "11: optimizer: the partitioner cuts variable dense/kernel into 2"},
      {"64", "64\nprecision: float16", kInvalid, "22: precision: "},
      {"64", "64\ndevice: cpu\nprecision: tf32", kInvalid,
       "23: precision: tf32: is not of the cpu device; expected float32, "
       "mixed_bfloat16, or device: cuda or auto"},
      {"64", "64\ndevice: cpu\nprecision: mixed_float16", kInvalid,
       "23: precision: mixed_float16: is not of the cpu device"},
      {"64", "64\ndevice: reference\nprecision: mixed_bfloat16", kInvalid,
       "23: precision: mixed_bfloat16: is not of the reference device; "
       "expected float32, or device: cuda or auto"},
      {"64", "64\ndevice_memory_limit: 9\ndevice: reference", kInvalid,
       "22: device_memory_limit: is of a GPU's memory; expected 0 with device: "
       "reference, got 9"},
      {"64", "64\npipeline: 2", kInvalid,
       "22: pipeline: must be from 0 to 1, got 2"},
      {"64", "64\npipeline: 1\nconsistency: sync", kInvalid,
       "22: pipeline: expected 0, got 1: it means something only with "
       "`consistency: async`"},
      {"strategy: parameter_server", "strategy: mirrored\npipeline: 1",
       kInvalid,
       "2: pipeline: expected 0, got 1: strategy mirrored has no parameter "
       "servers"},
      {"64", "64\ndevice_memory_limit: -1", kInvalid,
       "22: device_memory_limit: must be at least 0"},
      {"64", "64\npartitioner: {fixed: 2, max_size: 8}", kInvalid,
       "22: partitioner.fixed: excludes max_size"},
      {"strategy: parameter_server",
       "strategy: multi_worker_mirrored\ncluster: {ps: 1}", kInvalid,
       "2: cluster.ps: strategy multi_worker_mirrored has no parameter "
       "servers, got 1"},
      {"strategy: parameter_server", "strategy: mirrored\ncluster: {worker: 2}",
       kInvalid,
       "2: cluster.worker: strategy mirrored runs in 1 worker, got 2"},
  };
  for (const Malformed& each : cases) ExpectRefused(each);
}

TEST(JobReader, SaysWhatIsNotSupportedYet) {
  const Malformed cases[] = {
      {"64", "64\ncallbacks: [{EarlyStopping: {restore_best_weights: true}}]",
       kUnimplemented, "22: callbacks[0].restore_best_weights: true is not"},
      {"64", "64\nevaluator: true", absl::StatusCode::kInvalidArgument,
       "1: checkpoint: missing; expected for an evaluator"},
      {"64", "64\nmax_staleness: 2", absl::StatusCode::kInvalidArgument,
       "22: max_staleness: means something only with `consistency: bounded`"},
      {"64", "64\nwire_precision: float16", absl::StatusCode::kInvalidArgument,
       "22: wire_precision: expected float32 under strategy parameter_server"},
  };
  for (const Malformed& each : cases) ExpectRefused(each);
}

TEST(JobReader, StrategiesWithoutParameterServersHaveNone) {
  for (const char* strategy :
       {"mirrored", "multi_worker_mirrored", "central_storage"}) {
    const auto job =
        Read(absl::StrReplaceAll(kJob, {{"parameter_server", strategy}}), {},
             {.check_files = false});
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->cluster().ps(), 0);
  }
}

TEST(JobReader, ChecksThatFilesAreThere) {
  const absl::Status status = Read(kJob, {}, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("/jobs/fashion.yaml:19: data.train.idx.features: "
                         "/jobs/images.gz"));
  EXPECT_THAT(
      std::string(
          Read(kJob, {"data.train.idx.features=/tmp"}, {}).status().message()),
      HasSubstr("data.train.idx.features: /tmp: expected a regular file"));
  EXPECT_EQ(ReadJobFile("/nowhere/job.yaml", {}).status().code(),
            absl::StatusCode::kNotFound);
}

// The first error of the job with this override.
std::string ErrorWith(const std::string& override) {
  return std::string(Read(kJob, {override}, {}).status().message());
}

TEST(JobReader, DataMayBeUrlsWhichStay) {
  const auto job =
      Read(kJob,
           {"data.train.idx.features=s3://bucket/images.gz",
            "data.train.idx.labels=https://host/a/labels.gz?key=x"},
           {});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->data().train().idx().features(), "s3://bucket/images.gz");
  EXPECT_EQ(job->data().train().idx().labels(),
            "https://host/a/labels.gz?key=x");
  EXPECT_EQ(JobFingerprint(*job), JobFingerprint(*Read(kJob)));
}

TEST(JobReader, RefusesBadUrls) {
  EXPECT_THAT(ErrorWith("data.train.idx.features=ftp://host/images.gz"),
              StartsWith("/jobs/fashion.yaml: data.train.idx.features: "
                         "\"ftp://host/images.gz\": expected a path, or "
                         "http://"));
  EXPECT_THAT(ErrorWith("data.train.idx.features=https://host/a/"),
              HasSubstr("expected the name of a file"));
  EXPECT_THAT(ErrorWith("weights=https://host/model.keras"),
              HasSubstr("weights: \"https://host/model.keras\": expected a "
                        "path; only the files of `data`"));
  EXPECT_THAT(ErrorWith("model=https://host/model.keras"),
              HasSubstr("model: \"https://host/model.keras\": expected a "
                        "path; only"));
}

TEST(JobReader, ReadsTheExamplesOfDeploy) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           PACELINE_SOURCE_DIR "/deploy/jobs")) {
    const auto job =
        ReadJobFile(entry.path().string(), {}, {.check_files = false});
    ++count;
    EXPECT_TRUE(job.ok()) << job.status();
  }
  EXPECT_GT(count, 5);
}

// Keras' count_params and len(weights) of the same models.
TEST(JobReader, KnownNetworksHaveTheirVariables) {
  struct Network {
    const char* name;
    size_t variables;
    int64_t parameters;
  };
  for (const Network& network : {Network{"mobilenet_v2", 262, 3'538'984},
                                 Network{"resnet18", 102, 11'689'512 + 9'600},
                                 Network{"resnet50", 320, 25'636'712}}) {
    const auto job =
        ReadJobFile(absl::StrCat(PACELINE_SOURCE_DIR, "/deploy/jobs/",
                                 network.name, ".yaml"),
                    {}, {.check_files = false});
    ASSERT_TRUE(job.ok()) << job.status();
    const auto graph = BuildGraph(job->model());
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(graph->variables.size(), network.variables) << network.name;
    int64_t parameters = 0;
    for (const VariableSpec& variable : graph->variables) {
      parameters += NumElements(variable.shape);
    }
    EXPECT_EQ(parameters, network.parameters) << network.name;
    EXPECT_EQ(graph->output_shape(0), Shape{1000}) << network.name;
  }
}

TEST(JobFingerprint, TellsJobsApartButNotTheirPlaces) {
  const std::string fingerprint = JobFingerprint(*Read(kJob));
  EXPECT_EQ(fingerprint.size(), 16);
  EXPECT_EQ(fingerprint, JobFingerprint(*Read(kJob)));
  EXPECT_EQ(fingerprint,
            JobFingerprint(*Read(
                kJob, {"cluster.worker=9",
                       "data.train.idx.features=/else/where/images.gz"})));
  EXPECT_NE(fingerprint, JobFingerprint(*Read(kJob, {"seed=1"})));
  EXPECT_NE(fingerprint,
            JobFingerprint(*Read(kJob, {"model.layers[3].Dense.units=11"})));
  EXPECT_NE(fingerprint,
            JobFingerprint(*Read(kJob, {"data.train.idx.features=other.gz"})));
}

TEST(JobFiles, AreThoseOfAllSetsOfExamples) {
  v1::Job job = *Read(absl::StrCat(
      absl::StrReplaceAll(kJob, {{"batch_size_per_replica: 64", ""}}),
      "  test: {idx: {features: f, labels: ../l}}\nglobal_batch_size: 9"));
  std::vector<std::pair<std::string, std::string>> files;
  for (const JobFile& file : FilesOf(job)) {
    files.emplace_back(file.field.text(), file.path);
  }
  EXPECT_THAT(files,
              ElementsAre(Pair("data.train.idx.features", "/jobs/images.gz"),
                          Pair("data.train.idx.labels", "/data/labels.gz"),
                          Pair("data.test.idx.features", "/jobs/f"),
                          Pair("data.test.idx.labels", "/l")));

  v1::Job changed = job;
  ChangeFiles(changed, [](std::string& path) { path += "!"; });
  EXPECT_EQ(changed.data().test().idx().labels(), "/l!");
  ChangeFiles(changed, [](std::string& path) { path.pop_back(); });
  EXPECT_TRUE(MessageDifferencer::Equals(changed, job));
}

TEST(JobReaderFilesTest, AsksBeforeItOpensTheModelOfAJob) {
  JobReaderOptions options;
  options.may_read = [](const JobFile& file) {
    return absl::PermissionDeniedError(file.path + " is not for this job");
  };
  const absl::Status model =
      ReadJob("model: /nowhere/secret.json\n", "/jobs/job.yaml", {}, options)
          .status();
  EXPECT_TRUE(absl::IsPermissionDenied(model)) << model;
  EXPECT_EQ(
      model.message(),
      "/jobs/job.yaml:1: model: /nowhere/secret.json is not for this job");
  const absl::Status inner =
      ReadJob("model: {layers: [{Model: {path: ../base.json}}]}\n",
              "/jobs/job.yaml", {}, options)
          .status();
  EXPECT_TRUE(absl::IsPermissionDenied(inner)) << inner;
  EXPECT_NE(inner.message().find("/base.json is not for this job"),
            std::string::npos)
      << inner;
}

}  // namespace
}  // namespace paceline
