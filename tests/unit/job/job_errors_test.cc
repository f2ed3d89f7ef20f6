// What the reader of jobs refuses, and how it names the field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/unit/job/fashion_job.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Malformed {
  // Replaced in kFashionJob.
  std::string from;
  std::string to;
  absl::StatusCode code;
  // After "/jobs/fashion.yaml:".
  std::string message;
};

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

void ExpectRefused(const Malformed& each) {
  ASSERT_THAT(std::string(kFashionJob), HasSubstr(each.from));
  const absl::Status status =
      ReadFashion(absl::StrReplaceAll(kFashionJob, {{each.from, each.to}}))
          .status();
  EXPECT_EQ(status.code(), each.code) << each.to;
  EXPECT_THAT(std::string(status.message()),
              StartsWith(absl::StrCat("/jobs/fashion.yaml:", each.message)));
}

TEST(JobErrors, RefusesWrongFieldsWithLineAndPath) {
  const Malformed cases[] = {
      {kFashionJob, "", kInvalid, " empty; expected a job"},
      {kFashionJob, "[]", kInvalid, "1: expected a map (job), got []"},
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
      {"64", "64\ncallbacks: [{TensorBoard: {profile_batch: [5, 4]}}]",
       kInvalid, "22: callbacks[0].profile_batch: got [5,4]; expected 0, "},
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

TEST(JobErrors, RefusesWrongKerasObjectsWithLineAndPath) {
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
      {"from_logits: true", "ignore_class: 1.5", kInvalid,
       "10: loss.ignore_class: expected an integer, got 1.5"},
      {"{SparseCategoricalCrossentropy: {from_logits: true}}",
       "{CosineSimilarity: {axis: 2}}", kInvalid, "10: loss: "},
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

TEST(JobErrors, RefusesImpossibleCombinations) {
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

TEST(JobErrors, SaysWhatAFileOfAModelCannotHave) {
  const std::string saving =
      "    - Dense: {units: 10, name: top_level_model_weights}\n"
      "callbacks: [{ModelCheckpoint: {filepath: '{epoch}.";
  ExpectRefused(
      {"    - Dense: {units: 10}\n", saving + "h5'}}]\n",
       absl::StatusCode::kInvalidArgument,
       "10: callbacks[0].filepath: \"{epoch}.h5\": a legacy .h5 cannot "
       "have a layer called top_level_model_weights"});
}

TEST(JobErrors, SaysWhatIsNotSupportedYet) {
  const Malformed cases[] = {
      {"64", "64\ncallbacks: [{TensorBoard: {embeddings_freq: 5}}]",
       kUnimplemented, "22: callbacks[0].embeddings_freq: 5 is not"},
      {"64", "64\nevaluator: true", absl::StatusCode::kInvalidArgument,
       "1: checkpoint: missing; expected for an evaluator"},
      {"64", "64\nmax_staleness: 2", absl::StatusCode::kInvalidArgument,
       "22: max_staleness: means something only with `consistency: bounded`"},
      {"64", "64\nwire_precision: float16", absl::StatusCode::kInvalidArgument,
       "22: wire_precision: expected float32 under strategy parameter_server"},
  };
  for (const Malformed& each : cases) ExpectRefused(each);
}

}  // namespace
}  // namespace paceline
