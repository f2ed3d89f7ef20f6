// Keras models in and out of jobs. tests/interop compares them with Keras.
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

void ExpectSuccess(Process process) {
  EXPECT_EQ(process.Wait(kJobLimit), 0) << process.Errors();
  EXPECT_THAT(process.Session(), IsEmpty());
}

// A job file that goes on with `model`, and takes all else from it.
std::string WriteFollowingJob(const SmallJob& job, const std::string& model) {
  const std::string path = job.folder() / "following.yaml";
  WriteText(path, absl::StrCat("strategy: parameter_server\n"
                               "model: ",
                               model,
                               "\n"
                               "data: {train: {idx: {features: train-images, "
                               "labels: train-labels}, scale: "
                               "0.00392156862745098}}\n"
                               "batch_size_per_replica: 64\n"
                               "checkpoint: {every_epochs: 1}\n"));
  return path;
}

const std::vector<std::string> kInOrder = {"--set", "cluster.worker=1", "--set",
                                           "data.train.shuffle=false"};

std::vector<std::string> With(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Variables, slots and the count of calls all travel through the file: not a
// bit differs from a run of this optimizer without a break. Its learning rate
// must be a float32, as which Keras' files have it.
void ExpectToGoOn(const std::string& optimizer) {
  SCOPED_TRACE(optimizer);
  const std::vector<std::string> arguments =
      With(kInOrder, {"--set", absl::StrCat("optimizer=", optimizer)});
  SmallJob whole;
  ExpectSuccess(whole.Run(With(arguments, {"--set", "epochs=2"})));
  SmallJob first;
  ExpectSuccess(first.Run(With(arguments, {"--set", "epochs=1"})));
  const std::string model = first.folder() / "base.keras";
  std::filesystem::copy_file(first.output_dir() + "/model.keras", model);
  const std::string following = WriteFollowingJob(first, "base.keras");
  ExpectSuccess(
      first.Coordinator({"run", following, "--output", first.output_dir(),
                         "--set", "strategy=mirrored"}));
  EXPECT_EQ(first.LastShardTensors(), whole.LastShardTensors());
}

TEST(KerasModelTest, ATrainedModelGoesOnAsIfItHadNotStopped) {
  ExpectToGoOn("{Adam: {learning_rate: 0.0078125}}");
}

TEST(KerasModelTest, ATrainedModelGoesOnInTheMiddleOfAnAccumulation) {
  constexpr int kSteps = 4;
  ASSERT_NE(kStepsPerEpoch % kSteps, 0);
  ExpectToGoOn(absl::StrCat(
      "{Adam: {learning_rate: 0.0078125, gradient_accumulation_steps: ", kSteps,
      "}}"));
}

TEST(KerasModelTest, AnyNumberOfServersReadsItsPart) {
  SmallJob job;
  ExpectSuccess(job.Run({"--set", "epochs=3"}));
  const std::string model = job.output_dir() + "/model.keras";
  const nlohmann::json trained = job.Result().at("evaluation");
  const std::string following = WriteFollowingJob(job, model);
  // A learning rate of 0 leaves the variables as they are in the file.
  ExpectSuccess(job.Coordinator(
      {"run", following, "--output", job.folder() / "next", "--set",
       "cluster.ps=3", "--set", "optimizer={SGD: {learning_rate: 0}}"}));
  Process evaluate = job.Coordinator(
      {"evaluate", job.folder() / "next/checkpoint", "--job", job.path(),
       "--output", job.folder() / "evaluation", "-o", "json"});
  ASSERT_EQ(evaluate.Wait(kJobLimit), 0) << evaluate.Errors();
  const auto printed = nlohmann::json::parse(evaluate.Output(), nullptr, false);
  ASSERT_TRUE(printed.is_object()) << evaluate.Output();
  EXPECT_DOUBLE_EQ(printed.at("accuracy"), trained.at("accuracy"));
}

// The bytes of a tensor in a safetensors file.
std::string TensorBytes(const std::string& file, const std::string& name) {
  uint64_t header_size = 0;
  std::memcpy(&header_size, file.data(), sizeof(header_size));
  const auto header =
      nlohmann::json::parse(file.substr(sizeof(header_size), header_size));
  const auto& offsets = header.at(name).at("data_offsets");
  const size_t begin = offsets.at(0);
  const size_t end = offsets.at(1);
  return file.substr(sizeof(header_size) + header_size + begin, end - begin);
}

// A checkpoint's variables in the safetensors format.
std::string Exported(const SmallJob& job, const std::string& output_dir) {
  const std::string path = job.folder() / "exported.safetensors";
  ExpectSuccess(job.Coordinator({"export", output_dir + "/checkpoint",
                                 "--format", "safetensors", "--output", path}));
  return ReadText(path);
}

// Transfer learning: the first job's model is a frozen layer of the second's,
// from whose file a third goes on.
TEST(KerasModelTest, AModelInAFileIsALayerOfAnother) {
  SmallJob job;
  ExpectSuccess(job.Run({"--set", "epochs=1"}));
  std::filesystem::copy_file(job.output_dir() + "/model.keras",
                             job.folder() / "base.keras");
  const std::string transfer = WriteFollowingJob(
      job,
      "\n  name: transfer\n  layers:\n    - Input: {shape: [8, 8, 1]}\n"
      "    - Model: {path: base.keras, name: base, trainable: false}\n"
      "    - Dense: {units: 4, name: head}\n"
      "loss: {SparseCategoricalCrossentropy: {from_logits: true}}\n"
      "optimizer: {Adam: {learning_rate: 0.01}}\n");
  const std::string output = job.folder() / "transfer";
  ExpectSuccess(job.Coordinator(
      {"run", transfer, "--output", output, "--set", "cluster.ps=3"}));
  const std::string before = Exported(job, job.output_dir());
  const std::string after = Exported(job, output);
  for (const std::string name :
       {"conv2d/kernel", "dense/kernel", "dense_1/bias"}) {
    EXPECT_EQ(TensorBytes(after, "base/" + name), TensorBytes(before, name));
  }
  Process summary =
      job.Coordinator({"summary", absl::StrCat(output, "/model.keras")});
  EXPECT_EQ(summary.Wait(kJobLimit), 0) << summary.Errors();
  EXPECT_THAT(summary.Output(), HasSubstr("base (Sequential)"));
  EXPECT_THAT(summary.Output(), HasSubstr("Trainable params: 20 (80.00 B)"));

  const std::string following =
      WriteFollowingJob(job, absl::StrCat(output, "/model.keras"));
  const std::string last = job.folder() / "last";
  ExpectSuccess(job.Coordinator({"run", following, "--output", last}));
  EXPECT_EQ(TensorBytes(Exported(job, last), "base/conv2d/kernel"),
            TensorBytes(before, "conv2d/kernel"));
}

TEST(KerasModelTest, ExportWritesWhatTheRunWrote) {
  SmallJob job;
  ExpectSuccess(job.Run({"--set", "epochs=1", "--set", "cluster.ps=2"}));
  const std::string weights = job.folder() / "w.weights.h5";
  ExpectSuccess(job.Coordinator({"export", job.output_dir() + "/checkpoint",
                                 "--format", "weights", "--output", weights}));
  const std::string tensors = job.folder() / "w.safetensors";
  ExpectSuccess(
      job.Coordinator({"export", job.output_dir() + "/checkpoint", "--format",
                       "safetensors", "--output", tensors}));
  EXPECT_THAT(ReadText(tensors), HasSubstr("\"dense_1/kernel\":{"));
  const std::string onnx = job.folder() / "w.onnx";
  ExpectSuccess(job.Coordinator(
      {"export", job.output_dir() + "/checkpoint", "--output", onnx}));
  EXPECT_THAT(ReadText(onnx), HasSubstr("dense_1/MatMul"));
  const std::string unknown = job.folder() / "w.pb";
  Process refused = job.Coordinator(
      {"export", job.output_dir() + "/checkpoint", "--output", unknown});
  ExpectExit(refused, 2);
  EXPECT_THAT(refused.Errors(),
              HasSubstr("w.pb: its suffix is of no format; expected .keras"));
  EXPECT_FALSE(std::filesystem::exists(unknown));
  // The archive's members are stored as they are.
  EXPECT_NE(ReadText(weights), "");
  EXPECT_NE(ReadText(job.output_dir() + "/model.keras").find(ReadText(weights)),
            std::string::npos);
}

// A checkpoint and the file that a job makes of it are the same to others.
TEST(KerasModelTest, ExportsKerasFilesAsItDoesCheckpoints) {
  SmallJob job;
  ExpectSuccess(job.Run({"--set", "epochs=1", "--set", "cluster.ps=2"}));
  for (const std::string suffix : {".weights.h5", ".safetensors", ".onnx"}) {
    const std::string one = job.folder() / ("one" + suffix);
    const std::string other = job.folder() / ("other" + suffix);
    ExpectSuccess(job.Coordinator(
        {"export", job.output_dir() + "/checkpoint", "--output", one}));
    ExpectSuccess(job.Coordinator(
        {"export", job.output_dir() + "/model.keras", "--output", other}));
    EXPECT_NE(ReadText(one), "");
    EXPECT_EQ(ReadText(one), ReadText(other)) << suffix;
  }
}

// What `export --format safetensors` writes is what a job begins with.
TEST(KerasModelTest, AJobBeginsWithASafetensorsFile) {
  SmallJob job;
  ExpectSuccess(job.Run({"--set", "epochs=1"}));
  const std::string before = Exported(job, job.output_dir());
  const std::string weights = job.folder() / "w.safetensors";
  WriteText(weights, before);
  // A learning rate of 0 leaves the variables as they are in the file.
  const std::string next = job.folder() / "next";
  ExpectSuccess(job.Coordinator({"run", job.path(), "--output", next, "--set",
                                 "epochs=1", "--set", "weights=w.safetensors",
                                 "--set", "cluster.ps=2", "--set",
                                 "optimizer={SGD: {learning_rate: 0}}"}));
  const std::string after = Exported(job, next);
  for (const std::string name :
       {"conv2d/kernel", "dense/kernel", "dense_1/bias"}) {
    EXPECT_EQ(TensorBytes(after, name), TensorBytes(before, name)) << name;
  }
  Process other =
      job.Coordinator({"validate", job.path(), "--set", "weights=w.safetensors",
                       "--set", "model.layers[4].Dense.units=17"});
  EXPECT_EQ(other.Wait(kJobLimit), 2);
  EXPECT_THAT(other.Errors(),
              HasSubstr("w.safetensors: dense/kernel has shape (36, 16), "
                        "expected (36, 17)"));
  Process model =
      job.Coordinator({"validate", job.path(), "--set", "model=w.safetensors"});
  EXPECT_EQ(model.Wait(kJobLimit), 2);
  EXPECT_THAT(model.Errors(), HasSubstr("has weights alone"));
}

// As Keras' fit leaves a model. The checkpoint keeps both.
TEST(KerasModelTest, AveragesAreInTheirVariablesPlaceInTheEnd) {
  SmallJob job;
  ExpectSuccess(job.Run(
      {"--set", "epochs=1", "--set", "optimizer={Adam: {use_ema: true}}"}));
  const std::string stored = job.LastShardFile();
  // A learning rate of 0 leaves the variables as they are in the file.
  const std::string next = job.folder() / "next";
  ExpectSuccess(job.Coordinator(
      {"run", WriteFollowingJob(job, job.output_dir() + "/model.keras"),
       "--output", next, "--set", "cluster.ps=2", "--set",
       "optimizer={SGD: {learning_rate: 0}}"}));
  const std::string finished = Exported(job, next);
  const std::string before = Exported(job, job.output_dir());
  for (const std::string name :
       {"conv2d/kernel", "dense/kernel", "dense_1/bias"}) {
    const std::string average = TensorBytes(stored, name + "/average");
    EXPECT_EQ(TensorBytes(finished, name), average) << name;
    EXPECT_EQ(TensorBytes(before, name), TensorBytes(stored, name)) << name;
    EXPECT_NE(TensorBytes(stored, name), average) << name;
  }
}

// The leader tells once what matched; layers that do not match begin with the
// values that they would have without the file.
TEST(KerasModelTest, LayersTakeTheirValuesByName) {
  SmallJob job;
  ExpectSuccess(job.Run({"--set", "epochs=1"}));
  const std::string trained = Exported(job, job.output_dir());
  std::filesystem::copy_file(job.output_dir() + "/model.keras",
                             job.folder() / "base.keras");
  const std::string transfer = WriteFollowingJob(
      job,
      "\n  layers:\n    - Input: {shape: [8, 8, 1]}\n"
      "    - Conv2D: {filters: 4, kernel_size: 3, name: conv2d}\n"
      "    - MaxPooling2D: {}\n    - Flatten: {}\n"
      "    - Dense: {units: 8, name: dense}\n"
      "    - Dense: {units: 4, name: head}\n"
      "loss: {SparseCategoricalCrossentropy: {from_logits: true}}\n"
      "optimizer: {SGD: {learning_rate: 0}}\n");
  const std::string report =
      "1 of 3 layers with variables take their values from ";
  const std::vector<std::string> by_name = {"--set", "weights=base.keras",
                                            "--set", "weights_by_name=true"};
  Process validate = job.Coordinator(With({"validate", transfer}, by_name));
  EXPECT_EQ(validate.Wait(kJobLimit), 0) << validate.Errors();
  for (const char* part :
       {"matched:          conv2d\n", "not in the file:  head\n",
        "dense: kernel has shape (36, 16) in the file, (36, 8) in the model",
        "not in the model: dense_1\n"}) {
    EXPECT_THAT(validate.Output(), HasSubstr(part));
  }
  const std::string with = job.folder() / "with";
  Process run =
      job.Coordinator(With({"run", transfer, "--output", with, "--set",
                            "cluster.ps=2", "--set", "cluster.worker=2"},
                           by_name));
  ASSERT_EQ(run.Wait(kJobLimit), 0) << run.Errors();
  const std::string told = run.Errors();
  const size_t first = told.find(report);
  ASSERT_NE(first, std::string::npos) << told;
  EXPECT_EQ(told.find(report, first + 1), std::string::npos) << told;
  const std::string without = job.folder() / "without";
  ExpectSuccess(job.Coordinator({"run", transfer, "--output", without}));
  const std::string taken = Exported(job, with);
  const std::string random = Exported(job, without);
  for (const std::string name : {"conv2d/kernel", "conv2d/bias"}) {
    EXPECT_EQ(TensorBytes(taken, name), TensorBytes(trained, name)) << name;
    EXPECT_NE(TensorBytes(taken, name), TensorBytes(random, name)) << name;
  }
  for (const std::string name : {"dense/kernel", "head/kernel"}) {
    EXPECT_EQ(TensorBytes(taken, name), TensorBytes(random, name)) << name;
  }
  // The plain path stays exact.
  Process exact =
      job.Coordinator({"validate", transfer, "--set", "weights=base.keras"});
  EXPECT_EQ(exact.Wait(kJobLimit), 2);
}

TEST(KerasModelTest, ADamagedOrMissingFileIsNamed) {
  SmallJob job;
  ExpectSuccess(job.Run({"--set", "epochs=1"}));
  std::string bytes = ReadText(job.output_dir() + "/model.keras");
  WriteText(job.folder() / "old.keras", bytes);
  bytes[bytes.find("\x89HDF") + 5000] ^= 1;
  WriteText(job.folder() / "damaged.keras", bytes);
  const std::pair<const char*, const char*> cases[] = {
      {"none.keras", "none.keras"},
      {"{layers: [Input: {shape: [8, 8, 1]}, Model: {path: none.keras}]}",
       "following.yaml:2: model.layers[1].path: "},
      {"{layers: [Input: {shape: [8, 1]}, Model: {path: old.keras}]}\n"
       "loss: mse\noptimizer: sgd",
       "following.yaml:2: model.layers[1].layers[0]: InputLayer "
       "\"input_layer\": expected shape "
       "(8, 8, 1), the model reads a layer of shape (8, 1)"},
      {"job.yaml",
       "job.yaml: is no zip archive or lacks its end, expected a "
       "Keras model"},
      {"damaged.keras", "damaged.keras: model.weights.h5: damaged: CRC error"}};
  for (const auto& [name, message] : cases) {
    const std::string following = WriteFollowingJob(job, name);
    Process run =
        job.Coordinator({"run", following, "--output", job.folder() / "next"});
    EXPECT_EQ(run.Wait(kJobLimit), 2) << name;
    EXPECT_THAT(run.Errors(), HasSubstr(message));
  }
  Process old = job.Coordinator(
      {"export", absl::StrCat(PACELINE_SOURCE_DIR,
                              "/tests/integration/fixtures/checkpoint-v1/"
                              "checkpoint")});
  EXPECT_NE(old.Wait(kJobLimit), 0);
  EXPECT_THAT(old.Errors(), HasSubstr("was written by an earlier release"));
}

}  // namespace
}  // namespace paceline
