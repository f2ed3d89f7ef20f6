// A small job, and its shards.
#ifndef PACELINE_TESTS_UNIT_PS_SERVER_SHARD_FIXTURE_H_
#define PACELINE_TESTS_UNIT_PS_SERVER_SHARD_FIXTURE_H_

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/checkpoint/checkpoint_folder.h"
#include "common/checkpoint/manifest.h"
#include "common/model/build_graph.h"
#include "common/model/graph.h"
#include "common/optimizer/make_optimizer.h"
#include "common/sharding/shard_plan.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "ps_server/shard.h"

namespace paceline {

inline constexpr uint64_t kIncarnation = 0xabc;

// Dense(4) and Dense(2) with 3 inputs: kernels of 12 and 8, biases of 4 and 2.
inline v1::Job SmallJob() {
  v1::Job job;
  const auto status = google::protobuf::util::JsonStringToMessage(
      R"({"name": "small", "seed": "5",
          "model": {"layers": [
            {"className": "InputLayer", "config": {"batch_shape": [null, 3]}},
            {"className": "Dense", "config": {"units": 4}},
            {"className": "Dense", "config": {"units": 2}}]},
          "loss": {"className": "MeanSquaredError"},
          "optimizer": {"className": "SGD", "config": {
            "learning_rate": 0.5, "momentum": 0.9}}})",
      &job);
  EXPECT_TRUE(status.ok()) << status;
  return job;
}

class ShardTest : public ::testing::Test {
 protected:
  using Blocks = google::protobuf::RepeatedPtrField<v1::Block>;

  static constexpr uint32_t kWorkersOfShard = 4;

  // Bytes of each block of a chunk; empty if there is none.
  static absl::Span<const size_t> BlockSizes(const Shard& shard,
                                             uint32_t chunk) {
    v1::PullRequest request;
    request.set_ps_incarnation(kIncarnation);
    request.set_chunk(chunk);
    return shard.BlockSizesFor(request).value_or(absl::Span<const size_t>());
  }

  static void Admit(Shard& shard, uint32_t rank, uint64_t incarnation) {
    v1::AdmitRequest request;
    request.add_workers()->set_rank(rank);
    request.mutable_workers(0)->set_incarnation(incarnation);
    v1::AdmitResponse response;
    const absl::Status status = shard.Admit(request, response);
    EXPECT_TRUE(status.ok()) << status;
  }

  // Admits the workers as which PushRequest and WorkerMessages push:
  // incarnations below 12; the rank is the incarnation modulo 4.
  static void AdmitAll(Shard& shard, uint32_t workers) {
    for (uint64_t incarnation = 1; incarnation < 12; ++incarnation) {
      const auto rank = static_cast<uint32_t>(incarnation % 4);
      if (rank < workers) Admit(shard, rank, incarnation);
    }
  }

  // Buffers for the variables of a chunk.
  struct Buffers {
    Buffers(const Shard& shard, uint32_t chunk) {
      for (const size_t size : BlockSizes(shard, chunk)) {
        memory.emplace_back(size);
        buffers.push_back({absl::MakeSpan(memory.back())});
      }
    }
    void CopyTo(Blocks& blocks) const {
      for (size_t index = 0; index < buffers.size(); ++index) {
        const DenseBuffer& buffer = buffers[index];
        if (!buffer.is_filled) continue;
        v1::Block& block = *blocks.Add();
        block.set_index(static_cast<uint32_t>(index));
        block.set_dtype(buffer.dtype);
        block.set_version(buffer.version);
        block.mutable_dense()->set_values(buffer.values.data(),
                                          buffer.values.size());
      }
    }

    std::vector<std::vector<std::byte>> memory;
    std::vector<DenseBuffer> buffers;
  };

  // The folder of the running test, for checkpoints.
  static std::string TestDirectory() {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    return ::testing::TempDir() + "ps." + info->test_suite_name() + "." +
           info->name() + "." + std::to_string(getpid());
  }
  static std::string NameOf(const std::string& folder) {
    return std::filesystem::path(folder).filename().string();
  }

  void SetUp() override {
    directory_ = TestDirectory();
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // A shard with a whole job.
  static std::unique_ptr<Shard> MakeShardOf(
      const v1::Job& job, uint32_t workers,
      const std::string& restore_path = "") {
    auto result = std::make_unique<Shard>(kIncarnation, DataType::kFloat32);
    result->SetCheckpointFolder(TestDirectory());
    v1::InitializeRequest request = InitializeRequest(0, 1, restore_path);
    *request.mutable_job() = job;
    request.set_workers(workers);
    v1::InitializeResponse response;
    const absl::Status status = result->Initialize(request, response);
    EXPECT_TRUE(status.ok()) << status;
    AdmitAll(*result, workers);
    return result;
  }

  static std::unique_ptr<Shard> MakeShard(int shard = 0, int shard_count = 1,
                                          const std::string& restore_path = "",
                                          DataType type = DataType::kFloat32) {
    auto result = std::make_unique<Shard>(kIncarnation, type);
    result->SetCheckpointFolder(TestDirectory());
    v1::InitializeResponse response;
    const absl::Status status = result->Initialize(
        InitializeRequest(shard, shard_count, restore_path), response);
    EXPECT_TRUE(status.ok()) << status;
    AdmitAll(*result, kWorkersOfShard);
    return result;
  }

  static v1::InitializeRequest InitializeRequest(
      int shard, int shard_count, const std::string& restore_path = "") {
    v1::InitializeRequest request;
    *request.mutable_job() = SmallJob();
    request.set_shard(static_cast<uint32_t>(shard));
    request.set_shard_count(static_cast<uint32_t>(shard_count));
    request.set_restore_path(restore_path);
    request.set_workers(kWorkersOfShard);
    return request;
  }

  // All values of a chunk, concatenated by block.
  template <typename T = float>
  static std::vector<T> Values(Shard& shard, uint32_t chunk = 0) {
    v1::PullRequest request;
    request.set_ps_incarnation(kIncarnation);
    request.set_chunk(chunk);
    v1::PullResponse response;
    const absl::Status status = Pull(shard, request, response);
    EXPECT_TRUE(status.ok()) << status;
    return ValuesOf<T>(response.variables());
  }

  template <typename T>
  static std::vector<T> ValuesOf(const Blocks& blocks) {
    std::vector<T> values;
    for (const v1::Block& block : blocks) {
      const std::string& bytes = block.dense().values();
      const size_t begin = values.size();
      values.resize(begin + bytes.size() / sizeof(T));
      std::memcpy(values.data() + begin, bytes.data(), bytes.size());
    }
    return values;
  }

  // A push for all blocks of a chunk, in which each gradient is `gradient`.
  template <typename T = float>
  static v1::PushRequest PushRequest(Shard& shard, uint64_t sequence,
                                     T gradient, uint64_t worker = 7,
                                     uint32_t chunk = 0) {
    v1::PullRequest pull;
    pull.set_ps_incarnation(kIncarnation);
    pull.set_chunk(chunk);
    v1::PullResponse pulled;
    EXPECT_TRUE(Pull(shard, pull, pulled).ok());
    v1::PushRequest request;
    request.set_ps_incarnation(kIncarnation);
    request.set_chunk(chunk);
    request.mutable_worker()->set_rank(static_cast<uint32_t>(worker % 4));
    request.mutable_worker()->set_incarnation(worker);
    request.mutable_progress()->set_sequence(sequence);
    *request.mutable_gradients() = pulled.variables();
    for (v1::Block& block : *request.mutable_gradients()) {
      std::string& bytes = *block.mutable_dense()->mutable_values();
      const std::vector<T> gradients(bytes.size() / sizeof(T), gradient);
      std::memcpy(bytes.data(), gradients.data(), bytes.size());
    }
    return request;
  }

  static absl::Status Push(Shard& shard, const v1::PushRequest& request,
                           v1::PushResponse& response) {
    absl::Status result = absl::UnknownError("no answer");
    Push(shard, request, response,
         [&](const absl::Status& status) { result = status; });
    return result;
  }

  // Calls with the blocks inside the messages.
  static void Push(Shard& shard, const v1::PushRequest& request,
                   v1::PushResponse& response, Shard::Done done) {
    struct Values {
      std::vector<DenseValues> gradients;
      Buffers buffers;
    };
    auto values =
        std::make_shared<Values>(Values{{}, Buffers(shard, request.chunk())});
    for (const v1::Block& block : request.gradients()) {
      const std::string& bytes = block.dense().values();
      values->gradients.push_back(
          {block.index(),
           block.dtype(),
           block.version(),
           {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()},
           block.dense().offset()});
    }
    Values& kept = *values;
    shard.Push(request, kept.gradients, response,
               absl::MakeSpan(kept.buffers.buffers),
               [values = std::move(values), &response,
                done = std::move(done)](const absl::Status& status) {
                 values->buffers.CopyTo(*response.mutable_variables());
                 done(status);
               });
  }
  static absl::Status Pull(Shard& shard, const v1::PullRequest& request,
                           v1::PullResponse& response) {
    Buffers buffers(shard, request.chunk());
    absl::Status status =
        shard.Pull(request, response, absl::MakeSpan(buffers.buffers));
    buffers.CopyTo(*response.mutable_variables());
    return status;
  }
  static absl::Status Apply(Shard& shard, const v1::ApplyRequest& request,
                            v1::ApplyResponse& response) {
    Buffers buffers(shard, request.chunk());
    absl::Status status =
        shard.Apply(request, response, absl::MakeSpan(buffers.buffers));
    buffers.CopyTo(*response.mutable_variables());
    return status;
  }

  // Writes a checkpoint of all shards; returns its folder.
  std::string WriteCheckpoint(const std::vector<std::unique_ptr<Shard>>& shards,
                              const v1::Job& job = SmallJob()) {
    std::string folder = *CreateCheckpointFolder(directory_, 1);
    Manifest manifest;
    manifest.slot_names = (*MakeOptimizer(job.optimizer()))->slot_names();
    manifest.session =
        std::make_shared<const nlohmann::json>(nlohmann::json::object());
    const std::vector<VariableSpec> variables =
        BuildGraph(job.model())->variables;
    manifest.variables = StoredVariables(
        variables, *ShardPlan::Make(variables, static_cast<int>(shards.size()),
                                    job.partitioner(), sizeof(float)));
    for (const auto& shard : shards) {
      v1::SnapshotRequest snapshot;
      snapshot.set_name(NameOf(folder));
      v1::SnapshotResponse taken;
      const absl::Status status = shard->Snapshot(snapshot, taken);
      EXPECT_TRUE(status.ok()) << status;
      const Checkpointer::Result written = AwaitCheckpoint(*shard, folder);
      EXPECT_TRUE(written.ok()) << written.status();
      EXPECT_EQ(written->step, static_cast<int64_t>(taken.step()));
      manifest.shards.push_back(*written);
    }
    const absl::Status status = WriteManifest(folder, manifest);
    EXPECT_TRUE(status.ok()) << status;
    return folder;
  }

  static Checkpointer::Result AwaitCheckpoint(Shard& shard,
                                              const std::string& folder) {
    Mutex mutex;
    CondVar changed;
    std::optional<Checkpointer::Result> result;
    v1::WriteCheckpointRequest request;
    request.set_name(NameOf(folder));
    shard.WriteCheckpoint(request, [&](const Checkpointer::Result& written) {
      MutexLock lock(mutex);
      result = written;
      changed.NotifyAll();
    });
    MutexLock lock(mutex);
    while (!result) changed.WaitFor(mutex, absl::Seconds(1));
    return *result;
  }

  std::string directory_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_PS_SERVER_SHARD_FIXTURE_H_
