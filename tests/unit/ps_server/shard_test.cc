#include "ps_server/shard.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <thread>

#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "tests/unit/ps_server/shard_fixture.h"

namespace paceline {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

TEST_F(ShardTest, ShardsTogetherHoldWhatOneHolds) {
  const auto one = MakeShard();
  std::vector<float> whole = Values(*one);
  ASSERT_EQ(whole.size(), 26u);
  std::vector<float> parts;
  for (int s = 0; s < 3; ++s) {
    const std::vector<float> part = Values(*MakeShard(s, 3));
    EXPECT_FALSE(part.empty());
    parts.insert(parts.end(), part.begin(), part.end());
  }
  // Blocks come in another order, and the kernels' values are all different.
  std::sort(whole.begin(), whole.end());
  std::sort(parts.begin(), parts.end());
  EXPECT_THAT(parts, ElementsAreArray(whole));
  EXPECT_NE(whole.front(), whole.back());
}

TEST_F(ShardTest, ShardsWithoutVariablesFenceAndWriteCheckpoints) {
  // The variables have 13 rows.
  std::vector<std::unique_ptr<Shard>> shards;
  int empty_count = 0;
  for (int s = 0; s < 20; ++s) {
    const auto& shard = shards.emplace_back(MakeShard(s, 20));
    if (!BlockSizes(*shard, 0).empty()) {
      v1::PushResponse response;
      ASSERT_TRUE(Push(*shard, PushRequest(*shard, 1, 1.0f), response).ok());
      EXPECT_EQ(response.step(), 1u);
      continue;
    }
    ++empty_count;
    v1::FenceRequest fence;
    fence.mutable_worker()->set_incarnation(7);
    v1::FenceResponse fenced;
    ASSERT_TRUE(shard->Fence(fence, fenced).ok());
    EXPECT_FALSE(fenced.has_progress());
  }
  EXPECT_GE(empty_count, 7);
  EXPECT_EQ(Values(*MakeShard(0, 1, WriteCheckpoint(shards))).size(), 26u);
}

TEST_F(ShardTest, PushAppliesTheOptimizerAndAnswersWithVariables) {
  const auto shard = MakeShard();
  const std::vector<float> before = Values(*shard);
  v1::PushRequest request = PushRequest(*shard, 1, 1.0f);
  request.set_pull(true);
  v1::PushResponse response;
  ASSERT_TRUE(Push(*shard, request, response).ok());
  EXPECT_TRUE(response.applied());
  EXPECT_EQ(response.step(), 1u);
  EXPECT_EQ(response.staleness(), 0u);
  // m = -0.5, then m = 0.9 · -0.5 - 0.5 = -0.95.
  std::vector<float> after = ValuesOf<float>(response.variables());
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_FLOAT_EQ(after[i], before[i] - 0.5f);
  }
  EXPECT_EQ(response.variables(0).version(), 1u);
  v1::PushResponse second;
  ASSERT_TRUE(Push(*shard, PushRequest(*shard, 2, 1.0f), second).ok());
  EXPECT_EQ(second.variables_size(), 0);
  after = Values(*shard);
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_FLOAT_EQ(after[i], before[i] - 0.5f - 0.95f);
  }
}

TEST_F(ShardTest, APushMayHaveItsLearningRate) {
  const auto shard = MakeShard();
  const std::vector<float> before = Values(*shard);
  v1::PushResponse response;
  v1::PushRequest request = PushRequest(*shard, 1, 1.0f);
  request.set_learning_rate(0.25);
  ASSERT_TRUE(Push(*shard, request, response).ok());
  // The next one has none: m = 0.9 · -0.25 - 0.5.
  ASSERT_TRUE(Push(*shard, PushRequest(*shard, 2, 1.0f), response).ok());
  request = PushRequest(*shard, 3, 1.0f);
  request.set_learning_rate(0);
  ASSERT_TRUE(Push(*shard, request, response).ok());
  const float moment = 0.9f * -0.25f - 0.5f;
  const std::vector<float> after = Values(*shard);
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_NEAR(after[i], before[i] - 0.25f + moment + 0.9f * moment, 1e-6);
  }
}

TEST_F(ShardTest, WorksInFloat64) {
  const auto shard = MakeShard(0, 1, "", DataType::kFloat64);
  const std::vector<double> before = Values<double>(*shard);
  ASSERT_EQ(before.size(), 26u);
  v1::PushResponse response;
  ASSERT_TRUE(Push(*shard, PushRequest(*shard, 1, 1e-9), response).ok());
  const std::vector<double> after = Values<double>(*shard);
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_DOUBLE_EQ(after[i], before[i] - 0.5e-9);
  }
}

TEST_F(ShardTest, RepeatIsAnsweredAndNotAppliedAgain) {
  const auto shard = MakeShard();
  v1::PushRequest request = PushRequest(*shard, 1, 1.0f);
  request.set_pull(true);
  v1::PushResponse response;
  ASSERT_TRUE(Push(*shard, request, response).ok());
  v1::PushResponse repeat;
  ASSERT_TRUE(Push(*shard, request, repeat).ok());
  EXPECT_FALSE(repeat.applied());
  EXPECT_EQ(repeat.step(), 1u);
  EXPECT_EQ(ValuesOf<float>(repeat.variables()),
            ValuesOf<float>(response.variables()));
}

TEST_F(ShardTest, PartsOfBlocksAreUpdatedAlone) {
  const auto shard = MakeShard();
  const std::vector<float> before = Values(*shard);
  v1::PushRequest request = PushRequest(*shard, 1, 1.0f);
  ASSERT_EQ(request.gradients_size(), 1);
  v1::DenseBlock& dense = *request.mutable_gradients(0)->mutable_dense();
  // Across the border between variables.
  dense.set_offset(5);
  dense.mutable_values()->resize(7 * sizeof(float));
  v1::PushResponse response;
  ASSERT_TRUE(Push(*shard, request, response).ok());
  const std::vector<float> after = Values(*shard);
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_FLOAT_EQ(after[i], before[i] - (i >= 5 && i < 12 ? 0.5f : 0.0f))
        << i;
  }
}

TEST_F(ShardTest, StalenessIsWhatOthersDidInBetween) {
  const auto shard = MakeShard();
  const v1::PushRequest slow = PushRequest(*shard, 1, 0.0f, /*worker=*/8);
  v1::PushResponse response;
  for (uint64_t sequence : {1, 2, 3}) {
    ASSERT_TRUE(
        Push(*shard, PushRequest(*shard, sequence, 0.0f), response).ok());
    EXPECT_EQ(response.staleness(), 0u);
  }
  ASSERT_TRUE(Push(*shard, slow, response).ok());
  EXPECT_EQ(response.staleness(), 3u);
}

TEST_F(ShardTest, RefusesWhatDoesNotFit) {
  const auto shard = MakeShard();
  const std::vector<float> before = Values(*shard);
  struct Case {
    std::function<void(v1::PushRequest&)> change;
    absl::StatusCode code;
    std::string reason;
  };
  using Code = absl::StatusCode;
  using R = v1::PushRequest;
  const std::vector<Case> cases = {
      {[](R& r) { r.set_ps_incarnation(1); }, Code::kFailedPrecondition,
       "another process"},
      {[](R& r) { r.mutable_worker()->set_incarnation(0); },
       Code::kInvalidArgument, "incarnation"},
      {[](R& r) { r.clear_progress(); }, Code::kInvalidArgument, "sequence"},
      {[](R& r) { r.set_learning_rate(std::nan("")); }, Code::kInvalidArgument,
       "learning_rate: nan of worker-3; expected a number from 0 to"},
      {[](R& r) { r.set_learning_rate(-1e-9); }, Code::kInvalidArgument,
       "learning_rate: -1e-09 of worker-3; expected"},
      {[](R& r) { r.set_learning_rate(HUGE_VAL); }, Code::kInvalidArgument,
       "learning_rate: inf"},
      {[](R& r) { r.mutable_gradients(0)->set_index(1); },
       Code::kInvalidArgument, "block 1"},
      {[](R& r) { *r.add_gradients() = r.gradients(0); },
       Code::kInvalidArgument, "more than once"},
      {[](R& r) { r.mutable_gradients(0)->set_dtype(v1::DATA_TYPE_FLOAT64); },
       Code::kInvalidArgument, "DATA_TYPE_FLOAT64"},
      {[](R& r) {
         r.mutable_gradients(0)->mutable_dense()->mutable_values()->push_back(
             'x');
       },
       Code::kInvalidArgument, "do not fit"},
      {[](R& r) { r.mutable_gradients(0)->mutable_dense()->set_offset(1); },
       Code::kInvalidArgument, "do not fit"},
      {[](R& r) {
         r.mutable_gradients(0)->mutable_dense()->set_offset(UINT64_MAX);
       },
       Code::kInvalidArgument, "do not fit"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.reason);
    v1::PushRequest request = PushRequest(*shard, 1, 1.0f);
    each.change(request);
    v1::PushResponse response;
    const absl::Status status = Push(*shard, request, response);
    EXPECT_EQ(status.code(), each.code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(each.reason));
  }
  EXPECT_EQ(Values(*shard), before);
}

TEST_F(ShardTest, RefusesFencedWorkers) {
  const auto shard = MakeShard();
  v1::PushResponse response;
  v1::PushRequest request = PushRequest(*shard, 1, 1.0f);
  request.mutable_progress()->mutable_lease()->set_examples(64);
  ASSERT_TRUE(Push(*shard, request, response).ok());
  v1::FenceRequest fence;
  *fence.mutable_worker() = request.worker();
  v1::FenceResponse fenced;
  ASSERT_TRUE(shard->Fence(fence, fenced).ok());
  EXPECT_EQ(fenced.progress().lease().examples(), 64u);
  const std::vector<float> before = Values(*shard);
  const absl::Status status =
      Push(*shard, PushRequest(*shard, 2, 1.0f), response);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("worker-3"));
  EXPECT_EQ(Values(*shard), before);
}

TEST_F(ShardTest, ServesNothingBeforeItIsInitialised) {
  Shard shard(kIncarnation);
  v1::PushRequest push;
  push.set_ps_incarnation(kIncarnation);
  v1::PushResponse push_response;
  v1::PullRequest pull;
  pull.set_ps_incarnation(kIncarnation);
  v1::PullResponse pull_response;
  v1::AdmitResponse admit_response;
  v1::FenceResponse fence_response;
  v1::SnapshotResponse snapshot_response;
  std::vector<absl::Status> statuses = {Push(shard, push, push_response),
                                        Pull(shard, pull, pull_response),
                                        shard.Admit({}, admit_response),
                                        shard.Fence({}, fence_response),
                                        shard.Snapshot({}, snapshot_response),
                                        AwaitCheckpoint(shard, "x").status()};
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("not initialised"));
  }
}

TEST_F(ShardTest, InitializeIsIdempotentAndRefusesAnotherJob) {
  Shard shard(kIncarnation);
  v1::InitializeRequest request = InitializeRequest(0, 1);
  v1::InitializeResponse first;
  ASSERT_TRUE(shard.Initialize(request, first).ok());
  AdmitAll(shard, kWorkersOfShard);
  EXPECT_EQ(first.step(), 0u);
  EXPECT_EQ(first.size_bytes(), 2 * 26 * sizeof(float));
  v1::PushResponse pushed;
  ASSERT_TRUE(Push(shard, PushRequest(shard, 1, 1.0f), pushed).ok());
  const std::vector<float> values = Values(shard);

  v1::InitializeResponse again;
  ASSERT_TRUE(shard.Initialize(request, again).ok());
  EXPECT_EQ(again.SerializeAsString(), first.SerializeAsString());
  EXPECT_EQ(Values(shard), values);

  request.mutable_job()->set_seed(6);
  const absl::Status status = shard.Initialize(request, again);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("small"));
}

TEST_F(ShardTest, RefusesJobsItCannotHold) {
  v1::InitializeResponse response;
  v1::InitializeRequest request = InitializeRequest(1, 1);
  EXPECT_EQ(Shard(kIncarnation).Initialize(request, response).code(),
            absl::StatusCode::kInvalidArgument);
  request = InitializeRequest(0, 1);
  request.mutable_job()->mutable_optimizer()->set_class_name("Adafactor");
  EXPECT_EQ(Shard(kIncarnation).Initialize(request, response).code(),
            absl::StatusCode::kUnimplemented);
  // Nothing is left of the attempt: the right job is taken afterwards.
  Shard shard(kIncarnation);
  EXPECT_EQ(shard.Initialize(request, response).code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(shard.Initialize(InitializeRequest(0, 1), response).ok());
}

// A shard count of 2^31 - 1 took more than 8 GB before it was refused.
TEST_F(ShardTest, RefusesNumbersThatNoJobHas) {
  struct Case {
    std::function<void(v1::InitializeRequest&)> change;
    std::string message;
  };
  using R = v1::InitializeRequest;
  const std::vector<Case> cases = {
      {[](R& r) { r.set_shard_count(INT32_MAX); },
       "shard_count is 2147483647; expected 1 to 10000"},
      {[](R& r) { r.set_shard_count(0); },
       "shard_count is 0; expected 1 to 10000"},
      {[](R& r) { r.set_shard(1); }, "shard is 1; expected 0 to 0"},
      {[](R& r) { r.set_shard(UINT32_MAX); },
       "shard is 4294967295; expected 0 to 0"},
      {[](R& r) { r.set_workers(0); }, "workers is 0; expected 1 to 10000"},
      {[](R& r) { r.set_workers(10'001); },
       "workers is 10001; expected 1 to 10000"},
      {[](R& r) {
         r.mutable_job()->set_consistency(static_cast<v1::Consistency>(77));
       },
       "job.consistency is 77; expected async, bounded or sync"},
      {[](R& r) { r.set_restore_path(std::string("/a\0b", 4)); },
       "restore_path has a NUL after 2 characters; expected a path"},
  };
  for (const Case& each : cases) {
    v1::InitializeRequest request = InitializeRequest(0, 1);
    each.change(request);
    v1::InitializeResponse response;
    Shard shard(kIncarnation);
    const absl::Status status = shard.Initialize(request, response);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), each.message);
  }
}

// Whom the leader did not name leaves nothing behind, in no chunk and in no
// checkpoint.
TEST_F(ShardTest, RefusesWorkersThatWereNotAdmitted) {
  std::vector<std::unique_ptr<Shard>> shards;
  shards.push_back(MakeShard());
  v1::PushRequest request = PushRequest(*shards[0], 1, 1.0f);
  v1::PushResponse response;
  ASSERT_TRUE(Push(*shards[0], request, response).ok());
  const auto size_of_checkpoint = [&] {
    const std::string folder = WriteCheckpoint(shards);
    return std::filesystem::file_size(folder + "/" + ShardFileName(0, 1));
  };
  const auto size = size_of_checkpoint();
  for (uint64_t made_up = 1000; made_up < 2000; ++made_up) {
    request.mutable_worker()->set_incarnation(made_up);
    EXPECT_EQ(Push(*shards[0], request, response).code(),
              absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(size_of_checkpoint(), size);
}

TEST_F(ShardTest, CheckpointRestoresIntoAnyNumberOfShards) {
  std::vector<std::unique_ptr<Shard>> shards;
  for (int s = 0; s < 2; ++s) shards.push_back(MakeShard(s, 2));
  v1::PushResponse pushed;
  for (const auto& shard : shards) {
    for (uint64_t sequence : {1, 2}) {
      ASSERT_TRUE(
          Push(*shard, PushRequest(*shard, sequence, 0.25f), pushed).ok());
    }
  }
  const std::string folder = WriteCheckpoint(shards);
  // The next update shows the slots, too.
  const auto values_after_push =
      [&](const std::vector<std::unique_ptr<Shard>>& all) {
        std::vector<float> values;
        for (const auto& shard : all) {
          const absl::Status status =
              Push(*shard, PushRequest(*shard, 3, 0.5f), pushed);
          EXPECT_TRUE(status.ok()) << status;
          EXPECT_EQ(pushed.step(), 3u);
          EXPECT_EQ(pushed.staleness(), 0u);
          const std::vector<float> part = Values(*shard);
          values.insert(values.end(), part.begin(), part.end());
        }
        std::sort(values.begin(), values.end());
        return values;
      };
  const std::vector<float> expected = values_after_push(shards);
  for (int shard_count : {1, 2, 3, 9}) {
    SCOPED_TRACE(shard_count);
    std::vector<std::unique_ptr<Shard>> restored;
    for (int s = 0; s < shard_count; ++s) {
      restored.push_back(MakeShard(s, shard_count, folder));
    }
    EXPECT_EQ(values_after_push(restored), expected);
  }
}

TEST_F(ShardTest, CheckpointRemembersWhatWasApplied) {
  std::vector<std::unique_ptr<Shard>> shards;
  shards.push_back(MakeShard());
  v1::PushResponse response;
  ASSERT_TRUE(
      Push(*shards[0], PushRequest(*shards[0], 4, 1.0f), response).ok());
  const auto restored = MakeShard(0, 1, WriteCheckpoint(shards));
  const v1::PushRequest repeat = PushRequest(*restored, 4, 1.0f);
  response.Clear();
  ASSERT_TRUE(Push(*restored, repeat, response).ok());
  EXPECT_FALSE(response.applied());
  EXPECT_EQ(response.step(), 1u);
}

TEST_F(ShardTest, SnapshotIsOfItsMomentAndIdempotent) {
  std::vector<std::unique_ptr<Shard>> shards;
  shards.push_back(MakeShard());
  const std::vector<float> before = Values(*shards[0]);
  const std::string folder = *CreateCheckpointFolder(directory_, 1);
  v1::SnapshotRequest request;
  request.set_name(NameOf(folder));
  v1::SnapshotResponse response;
  ASSERT_TRUE(shards[0]->Snapshot(request, response).ok());
  v1::PushResponse pushed;
  ASSERT_TRUE(Push(*shards[0], PushRequest(*shards[0], 1, 1.0f), pushed).ok());
  ASSERT_TRUE(shards[0]->Snapshot(request, response).ok());
  EXPECT_EQ(response.step(), 0u);
  const Checkpointer::Result first = AwaitCheckpoint(*shards[0], folder);
  const Checkpointer::Result second = AwaitCheckpoint(*shards[0], folder);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(first->file, second->file);
  EXPECT_EQ(first->crc32, second->crc32);
  EXPECT_EQ(first->step, 0);
  const auto file = SafetensorsFile::Open(folder + "/" + first->file);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->header().metadata.at("step"), "0");
  EXPECT_EQ((*file)->header().tensors.size(), 8u);
}

TEST_F(ShardTest, SnapshotsThatNobodyShouldAskForAreAnswered) {
  const auto shard = MakeShard();
  v1::SnapshotRequest request;
  v1::SnapshotResponse response;
  for (const std::string& name :
       {std::string(), std::string(".."), directory_,
        directory_ + std::string("/x\0", 3), std::string("step-7")}) {
    request.set_name(name);
    EXPECT_EQ(shard->Snapshot(request, response).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(AwaitCheckpoint(*shard, name).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(std::filesystem::exists(directory_));
  // Any order of names has an answer, or an error.
  const std::string a = NameOf(*CreateCheckpointFolder(directory_, 1));
  const std::string b = NameOf(*CreateCheckpointFolder(directory_, 2));
  for (int round = 0; round < 50; ++round) {
    for (const std::string& name : {a, b, a}) {
      request.set_name(name);
      const absl::Status status = shard->Snapshot(request, response);
      EXPECT_TRUE(status.ok() || absl::IsFailedPrecondition(status)) << status;
    }
  }
  Shard untold(kIncarnation);
  v1::InitializeResponse initialized;
  ASSERT_TRUE(untold.Initialize(InitializeRequest(0, 1), initialized).ok());
  EXPECT_EQ(untold.Snapshot(request, response).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(ShardTest, CheckpointThatCannotBeWrittenIsAnErrorAndTrainingGoesOn) {
  const auto shard = MakeShard();
  std::filesystem::create_directories(directory_);
  v1::SnapshotRequest request;
  request.set_name("step-000000000001");
  v1::SnapshotResponse response;
  ASSERT_TRUE(shard->Snapshot(request, response).ok());
  absl::Status status = AwaitCheckpoint(*shard, request.name()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(request.name()));
  v1::PushResponse pushed;
  EXPECT_TRUE(Push(*shard, PushRequest(*shard, 1, 1.0f), pushed).ok());

  status = AwaitCheckpoint(*shard, "step-000000000002").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("step-000000000002"));
}

TEST_F(ShardTest, RestoreFailsOnACheckpointOfAnotherModel) {
  std::vector<std::unique_ptr<Shard>> shards;
  shards.push_back(MakeShard());
  v1::InitializeRequest request =
      InitializeRequest(0, 1, WriteCheckpoint(shards));
  request.mutable_job()->mutable_model()->mutable_layers()->RemoveLast();
  v1::InitializeResponse response;
  Shard other(kIncarnation);
  absl::Status status = other.Initialize(request, response);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("dense_1/"));
  request.set_restore_path(directory_ + "/none");
  status = other.Initialize(request, response);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
}

// Workers push from many threads while others pull: each push counts once, and
// each pull sees a block whole.
TEST_F(ShardTest, PushesAndPullsOfManyThreadsKeepBlocksWhole) {
  constexpr int kThreads = 4;
  constexpr int kPushes = 50;
  v1::InitializeRequest request = InitializeRequest(0, 1);
  google::protobuf::Struct* config =
      request.mutable_job()->mutable_optimizer()->mutable_config();
  (*config->mutable_fields())["momentum"].set_number_value(0);
  (*config->mutable_fields())["learning_rate"].set_number_value(1);
  Shard shard(kIncarnation);
  v1::InitializeResponse initialized;
  ASSERT_TRUE(shard.Initialize(request, initialized).ok());
  const std::vector<float> initial = Values(shard);
  for (int t = 0; t < kThreads; ++t) Admit(shard, 3, 100 + t);

  // Each push adds the same to every element, so all elements have moved alike
  // in every pull.
  const v1::PushRequest prototype = PushRequest(shard, 1, -1.0f);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      v1::PushRequest push = prototype;
      push.set_pull(true);
      push.mutable_worker()->set_incarnation(100 + static_cast<uint64_t>(t));
      for (int i = 1; i <= kPushes; ++i) {
        push.mutable_progress()->set_sequence(static_cast<uint64_t>(i));
        v1::PushResponse response;
        ASSERT_TRUE(Push(shard, push, response).ok());
        ASSERT_TRUE(response.applied());
        std::vector<float> moved = ValuesOf<float>(response.variables());
        for (size_t e = 0; e < moved.size(); ++e) {
          moved[e] = std::round(moved[e] - initial[e]);
        }
        ASSERT_THAT(moved, Each(moved[0]));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<float> after = Values(shard);
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_NEAR(after[i] - initial[i], kThreads * kPushes, 0.01);
  }
}

}  // namespace
}  // namespace paceline
