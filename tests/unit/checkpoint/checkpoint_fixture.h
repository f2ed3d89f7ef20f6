// A temporary folder, and small checkpoints in it.
#ifndef PACELINE_TESTS_UNIT_CHECKPOINT_CHECKPOINT_FIXTURE_H_
#define PACELINE_TESTS_UNIT_CHECKPOINT_CHECKPOINT_FIXTURE_H_

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/checkpoint/manifest.h"
#include "common/safetensors/safetensors.h"
#include "common/sharding/shard_plan.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace paceline {

inline std::vector<VariableSpec> CheckpointVariables() {
  return {{"dense/kernel", {7, 3}, nullptr, {}},
          {"dense/bias", {3}, nullptr, {}},
          {"scale", {}, nullptr, {}}};
}

// The value of element `i` of a variable or slot in these checkpoints.
inline double CheckpointElement(absl::string_view variable,
                                absl::string_view slot, int64_t i) {
  return static_cast<double>(100 * variable.size() + 1000 * slot.size() +
                             static_cast<size_t>(i)) +
         0.5;
}

class CheckpointTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = ::testing::TempDir() + info->test_suite_name() + "." +
                 info->name() + "." + std::to_string(getpid());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // The plan of the checkpoints: the kernel has four parts.
  static ShardPlan MakePlan(int shard_count) {
    v1::Partitioner partitioner;
    partitioner.set_kind(v1::Partitioner::KIND_FIXED);
    partitioner.set_parts(4);
    return *ShardPlan::Make(CheckpointVariables(), shard_count, partitioner, 4);
  }

  template <typename T>
  static ShardFile WriteShard(const std::string& folder,
                              const Manifest& manifest, int shard,
                              int shard_count) {
    std::vector<std::vector<T>> memory;
    std::vector<NamedTensor> tensors;
    std::vector<std::string> slots = manifest.slot_names;
    slots.insert(slots.begin(), "");
    for (const StoredVariable& variable : manifest.variables) {
      for (const StoredPart& part : variable.parts) {
        if (part.shard != shard) continue;
        for (const std::string& slot : slots) {
          std::vector<T>& values = memory.emplace_back();
          for (int64_t i = part.begin; i < part.begin + part.count; ++i) {
            values.push_back(
                static_cast<T>(CheckpointElement(variable.name, slot, i)));
          }
          tensors.push_back(
              {TensorName(variable, part, slot), DataTypeOf<T>::kValue,
               TensorShape(variable, part),
               absl::MakeSpan(reinterpret_cast<const std::byte*>(values.data()),
                              values.size() * sizeof(T))});
        }
      }
    }
    const std::string file = ShardFileName(shard, shard_count);
    const auto written =
        WriteSafetensors(**AtomicFile::Create(folder + "/" + file),
                         {{"shard", std::to_string(shard)}}, tensors);
    EXPECT_TRUE(written.ok()) << written.status();
    return {file, written->size_bytes, written->crc32, 17};
  }

  static Manifest MakeManifest(DataType type, int shard_count) {
    Manifest manifest;
    manifest.job_name = "job";
    manifest.job_fingerprint = "abc";
    manifest.type = type;
    manifest.slot_names = {"momentum"};
    manifest.variables =
        StoredVariables(CheckpointVariables(), MakePlan(shard_count));
    manifest.session =
        std::make_shared<const nlohmann::json>(nlohmann::json{{"epoch", 3}});
    return manifest;
  }

  // Writes a whole checkpoint and returns its folder.
  template <typename T = float>
  std::string WriteCheckpoint(int64_t step, int shard_count = 2) {
    std::string folder = *CreateCheckpointFolder(directory_, step);
    Manifest manifest = MakeManifest(DataTypeOf<T>::kValue, shard_count);
    manifest.step = step;
    for (int s = 0; s < shard_count; ++s) {
      manifest.shards.push_back(
          WriteShard<T>(folder, manifest, s, shard_count));
    }
    const absl::Status status = WriteManifest(folder, manifest);
    EXPECT_TRUE(status.ok()) << status;
    return folder;
  }

  static std::string ReadBytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void WriteBytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  std::string directory_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_CHECKPOINT_CHECKPOINT_FIXTURE_H_
