#include "common/job/job_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/config/keras_object.h"
#include "common/job/job_fields.h"
#include "google/protobuf/util/message_differencer.h"
#include "tests/unit/job/fashion_job.h"

namespace paceline {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;

TEST(JobReader, FillsDefaultsInAndMakesPathsAbsolute) {
  const auto job = ReadFashion(kFashionJob);
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
  const auto job = ReadFashion(absl::StrReplaceAll(
      kFashionJob,
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
  const auto job = ReadFashion(kFashionJob);
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
    const auto job = ReadFashion(absl::StrCat(kFashionJob, fields));
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->precision(), precision);
  }
}

TEST(JobReader, ReadsWhatOnlyAGpuHeeds) {
  const auto defaults = ReadFashion(kFashionJob);
  EXPECT_EQ(defaults->precision(), v1::PRECISION_FLOAT32);
  EXPECT_FALSE(defaults->deterministic());
  EXPECT_FALSE(defaults->autotune());
  EXPECT_EQ(defaults->device_memory_limit(), 0);
  for (const std::string device : {"auto", "cuda", "cuda:1"}) {
    const auto job = ReadFashion(
        absl::StrCat(kFashionJob, "device: ", device,
                     "\nprecision: tf32\ndevice_memory_limit: 8000000"));
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->precision(), v1::PRECISION_TF32);
    EXPECT_EQ(job->device_memory_limit(), 8'000'000);
  }
}

TEST(JobReader, CheckpointsEveryEpochUnlessStepsAreGiven) {
  EXPECT_EQ(ReadFashion(absl::StrCat(kFashionJob, "checkpoint: {}"))
                ->checkpoint()
                .every_epochs(),
            1);
  EXPECT_EQ(
      ReadFashion(absl::StrCat(kFashionJob, "checkpoint: {every_steps: 5}"))
          ->checkpoint()
          .every_epochs(),
      0);
}

TEST(JobReader, WritesWhatItReads) {
  const auto job = ReadFashion(absl::StrCat(
      absl::StrReplaceAll(kFashionJob,
                          {{"- Flatten:",
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
  const auto job = ReadFashion(
      kFashionJob, {"epochs=5", "cluster.worker=3", "optimizer=sgd",
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
    const absl::Status status = ReadFashion(kFashionJob, {text}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

TEST(JobReader, StrategiesWithoutParameterServersHaveNone) {
  for (const char* strategy :
       {"mirrored", "multi_worker_mirrored", "central_storage"}) {
    const auto job = ReadFashion(
        absl::StrReplaceAll(kFashionJob, {{"parameter_server", strategy}}), {},
        {.check_files = false});
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->cluster().ps(), 0);
  }
}

}  // namespace
}  // namespace paceline
