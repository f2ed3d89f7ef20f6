// Orders to load a checkpoint's variables and to swap variables with their
// averages, and starts with a checkpoint's variables alone.
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "ps_server/shard.h"
#include "tests/unit/ps_server/shard_fixture.h"

namespace paceline {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

v1::ChangeVariablesRequest OrderOf(uint64_t number, const std::string& name) {
  v1::ChangeVariablesRequest request;
  request.mutable_order()->set_number(number);
  request.mutable_order()->set_kind(v1::VariablesOrder::KIND_LOAD);
  request.mutable_order()->set_checkpoint(name);
  return request;
}

v1::ChangeVariablesRequest SwapOf(uint64_t number) {
  v1::ChangeVariablesRequest request;
  request.mutable_order()->set_number(number);
  request.mutable_order()->set_kind(v1::VariablesOrder::KIND_SWAP_AVERAGES);
  return request;
}

absl::Status Order(Shard& shard, const v1::ChangeVariablesRequest& request) {
  v1::ChangeVariablesResponse response;
  return shard.ChangeVariables(request, response);
}

class ShardOrdersTest : public ShardTest {
 protected:
  void SetUp() override {
    ShardTest::SetUp();
    shards_.push_back(MakeShard());
    PushTo(shard(), 1);
    best_ = Values(shard());
    folder_ = WriteCheckpoint(shards_);
    PushTo(shard(), 2);
  }

  Shard& shard() { return *shards_.front(); }
  absl::Status Load(uint64_t number) {
    return Order(shard(), OrderOf(number, NameOf(folder_)));
  }

  static void PushTo(Shard& shard, uint64_t sequence) {
    v1::PushResponse response;
    const absl::Status status =
        Push(shard, PushRequest(shard, sequence, 1.0f), response);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(response.step(), sequence);
    EXPECT_EQ(response.staleness(), 0u);
  }

  static std::vector<float> ChangeByAPush(Shard& shard, uint64_t sequence) {
    const std::vector<float> before = Values(shard);
    PushTo(shard, sequence);
    std::vector<float> change = Values(shard);
    for (size_t i = 0; i < change.size(); ++i) change[i] -= before[i];
    return change;
  }

  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<float> best_;
  std::string folder_;
};

TEST_F(ShardOrdersTest, LoadVariablesAndLeaveSlotsAndSteps) {
  EXPECT_NE(Values(shard()), best_);
  const absl::Status status = Load(1);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Values(shard()), best_);
  const std::unique_ptr<Shard> other = MakeShard();
  PushTo(*other, 1);
  PushTo(*other, 2);
  EXPECT_THAT(ChangeByAPush(shard(), 3),
              Pointwise(FloatNear(1e-5f), ChangeByAPush(*other, 3)));
}

// The checkpoint has the slots of SGD with momentum, and a step.
TEST_F(ShardOrdersTest, ANextPhaseBeginsWithTheVariablesAlone) {
  for (const char* const optimizer : {"SGD", "Adam"}) {
    SCOPED_TRACE(optimizer);
    v1::InitializeRequest request = InitializeRequest(0, 1, folder_);
    request.mutable_job()->mutable_optimizer()->set_class_name(optimizer);
    if (std::string(optimizer) == "Adam") {
      request.mutable_job()->mutable_optimizer()->clear_config();
    }
    request.set_variables_only(true);
    Shard next(kIncarnation, DataType::kFloat32);
    v1::InitializeResponse response;
    const absl::Status status = next.Initialize(request, response);
    ASSERT_TRUE(status.ok()) << status;
    AdmitAll(next, kWorkersOfShard);
    EXPECT_EQ(Values(next), best_);
    const std::unique_ptr<Shard> fresh = MakeShardOf(request.job(), 4);
    // It counts from 0, and its slots are new.
    EXPECT_THAT(ChangeByAPush(next, 1),
                Pointwise(FloatNear(1e-5f), ChangeByAPush(*fresh, 1)));
  }
}

TEST_F(ShardOrdersTest, ARepeatChangesNothing) {
  ASSERT_TRUE(Load(2).ok());
  PushTo(shard(), 3);
  const std::vector<float> later = Values(shard());
  for (const uint64_t number : {2, 1}) {
    ASSERT_TRUE(Load(number).ok());
    EXPECT_EQ(Values(shard()), later);
  }
  ASSERT_TRUE(Load(3).ok());
  EXPECT_EQ(Values(shard()), best_);
}

TEST_F(ShardOrdersTest, LoadWhatAnotherNumberOfShardsWrote) {
  const std::unique_ptr<Shard> first = MakeShard(0, 2);
  const std::unique_ptr<Shard> second = MakeShard(1, 2);
  std::vector<float> all;
  for (Shard* const each : {first.get(), second.get()}) {
    ASSERT_TRUE(Order(*each, OrderOf(1, NameOf(folder_))).ok());
    const std::vector<float> part = Values(*each);
    all.insert(all.end(), part.begin(), part.end());
  }
  EXPECT_THAT(all, ::testing::UnorderedElementsAreArray(best_));
}

TEST_F(ShardOrdersTest, InvalidOrdersAreRefused) {
  const std::string name = NameOf(folder_);
  std::vector<std::pair<v1::ChangeVariablesRequest, std::string>> invalid = {
      {{}, "order.number: 0"}, {OrderOf(0, name), "order.number: 0"}};
  for (const int kind : {0, 99, -1}) {
    v1::ChangeVariablesRequest request = OrderOf(1, name);
    request.mutable_order()->set_kind(
        static_cast<v1::VariablesOrder::Kind>(kind));
    invalid.emplace_back(request, "order.kind: ");
  }
  for (const std::string& bad :
       {std::string(), std::string(".."), folder_, "../" + name, name + "/",
        name + std::string("\0", 1), std::string("step-7"),
        std::string(1 << 20, 'a')}) {
    invalid.emplace_back(OrderOf(1, bad), "order.checkpoint: ");
  }
  // Its optimizer averages nothing.
  invalid.emplace_back(SwapOf(1),
                       "order.kind: 2, but the job's optimizer has "
                       "use_ema: false");
  v1::ChangeVariablesRequest of_both = SwapOf(1);
  of_both.mutable_order()->set_checkpoint(name);
  invalid.emplace_back(of_both, "order.checkpoint: ");
  const std::vector<float> before = Values(shard());
  for (const auto& [request, what] : invalid) {
    const absl::Status status = Order(shard(), request);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
    EXPECT_LT(status.message().size(), 1000u);
  }
  EXPECT_EQ(Values(shard()), before);
  Shard untold(kIncarnation);
  EXPECT_EQ(Order(untold, OrderOf(1, name)).code(),
            absl::StatusCode::kFailedPrecondition);
}

// With SGD of rate 0.5 and averages of momentum 0.25.
class ShardSwapsTest : public ShardOrdersTest {
 protected:
  void SetUp() override {
    ShardTest::SetUp();
    shards_.push_back(MakeAveraging());
  }

  static std::unique_ptr<Shard> MakeAveraging() {
    v1::Job job = SmallJob();
    auto& fields = *job.mutable_optimizer()->mutable_config()->mutable_fields();
    fields["use_ema"].set_bool_value(true);
    fields["ema_momentum"].set_number_value(0.25);
    return MakeShardOf(job, kWorkersOfShard);
  }

  void Swap(uint64_t number) {
    const absl::Status status = Order(shard(), SwapOf(number));
    ASSERT_TRUE(status.ok()) << status;
  }
};

TEST_F(ShardSwapsTest, VariablesAndAveragesChangePlaces) {
  PushTo(shard(), 1);
  const std::vector<float> first = Values(shard());
  PushTo(shard(), 2);
  const std::vector<float> second = Values(shard());
  Swap(1);
  std::vector<float> averages(first.size());
  for (size_t i = 0; i < first.size(); ++i) {
    averages[i] = 0.25f * first[i] + 0.75f * second[i];
  }
  EXPECT_THAT(Values(shard()), Pointwise(FloatNear(1e-6f), averages));
  EXPECT_NE(Values(shard()), second);
  Swap(2);
  EXPECT_EQ(Values(shard()), second);
}

TEST_F(ShardSwapsTest, TrainingGoesOnAsIfNothingHadBeenSwapped) {
  const std::unique_ptr<Shard> other = MakeAveraging();
  for (uint64_t sequence = 1; sequence <= 3; ++sequence) {
    PushTo(shard(), sequence);
    PushTo(*other, sequence);
    Swap(2 * sequence - 1);
    Swap(2 * sequence);
    EXPECT_EQ(Values(shard()), Values(*other));
  }
  Swap(7);
  ASSERT_TRUE(Order(*other, SwapOf(1)).ok());
  EXPECT_EQ(Values(shard()), Values(*other));
}

TEST_F(ShardSwapsTest, ARepeatOfASwapChangesNothing) {
  PushTo(shard(), 1);
  PushTo(shard(), 2);
  const std::vector<float> variables = Values(shard());
  Swap(1);
  const std::vector<float> averages = Values(shard());
  Swap(1);
  EXPECT_EQ(Values(shard()), averages);
  Swap(2);
  Swap(1);
  Swap(2);
  EXPECT_EQ(Values(shard()), variables);
}

TEST_F(ShardSwapsTest, BeforeTheFirstUpdateThereIsNoAverage) {
  const std::vector<float> initial = Values(shard());
  Swap(1);
  EXPECT_EQ(Values(shard()), initial);
}

TEST_F(ShardOrdersTest, AMissingCheckpointIsAnError) {
  const std::vector<float> before = Values(shard());
  absl::Status status = Order(shard(), OrderOf(1, "step-000000000009"));
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("step-000000000009"));
  std::filesystem::remove(folder_ + "/" + ShardFileName(0, 1));
  status = Load(1);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(ShardFileName(0, 1)));
  EXPECT_EQ(Values(shard()), before);
}

// The leader has the manifest and the other shard's file.
TEST_F(ShardOrdersTest, AShardLoadsItsOwnFileWithoutAManifest) {
  std::vector<std::unique_ptr<Shard>> both;
  for (int shard = 0; shard < 2; ++shard) {
    both.push_back(MakeShard(shard, 2));
    PushTo(*both.back(), 1);
  }
  const std::vector<float> best = Values(*both[1]);
  const std::string folder = WriteCheckpoint(both);
  PushTo(*both[1], 2);
  std::filesystem::remove(folder + "/manifest.json");
  std::filesystem::remove(folder + "/" + ShardFileName(0, 2));
  // Another process does not know what is in the file.
  const absl::Status unknown =
      Order(*MakeShard(1, 2), OrderOf(1, NameOf(folder)));
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound) << unknown;
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("manifest.json"));

  const absl::Status status = Order(*both[1], OrderOf(1, NameOf(folder)));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Values(*both[1]), best);

  PushTo(*both[1], 3);
  const std::vector<float> later = Values(*both[1]);
  const std::string path = folder + "/" + ShardFileName(1, 2);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_EQ(Order(*both[1], OrderOf(2, NameOf(folder))).code(),
            absl::StatusCode::kDataLoss);
  std::filesystem::remove(path);
  EXPECT_EQ(Order(*both[1], OrderOf(2, NameOf(folder))).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Values(*both[1]), later);
}

TEST_F(ShardOrdersTest, ACheckpointThatDoesNotFitChangesNothing) {
  using nlohmann::json;
  const std::string path = folder_ + "/manifest.json";
  const json good = json::parse(std::ifstream(path));
  const json& first = good.at("variables").at(0);
  const std::pair<std::string, std::function<void(json&)>> bad[] = {
      {"another name",
       [](json& manifest) { manifest["variables"][0]["name"] = "other"; }},
      {"one fewer", [](json& manifest) { manifest["variables"].erase(0); }},
      {"another shape",
       [](json& manifest) {
         json& shape = manifest["variables"][0]["shape"];
         shape.push_back(1);
       }},
      {"a huge shape",
       [](json& manifest) {
         manifest["variables"][0]["shape"] = {1 << 30, 1 << 30, 1 << 30};
       }},
      {"a negative shape",
       [](json& manifest) {
         manifest["variables"][0]["shape"] = {-3, -4};
       }},
      {"a part of no shard",
       [](json& manifest) {
         manifest["variables"][0]["parts"][0]["shard"] = 1 << 30;
       }},
      {"a huge part",
       [](json& manifest) {
         manifest["variables"][0]["parts"][0]["count"] = int64_t{1} << 62;
       }},
      {"no parts",
       [](json& manifest) {
         manifest["variables"][0]["parts"] = json::array();
       }},
      {"a huge file",
       [](json& manifest) {
         manifest["shards"][0]["size_bytes"] = int64_t{1} << 62;
       }},
      {"another type", [](json& manifest) { manifest["dtype"] = "F64"; }}};
  ASSERT_FALSE(first.at("parts").empty());
  const std::vector<float> before = Values(shard());
  for (const auto& [name, change] : bad) {
    SCOPED_TRACE(name);
    json manifest = good;
    change(manifest);
    ASSERT_NE(manifest, good);
    std::ofstream(path) << manifest;
    const absl::Status status = Load(1);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr(NameOf(folder_)));
    EXPECT_EQ(Values(shard()), before);
  }
  std::ofstream(path) << good;
  const absl::Status status = Load(1);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Values(shard()), best_);
}

TEST_F(ShardOrdersTest, ADamagedFileChangesNothing) {
  const std::vector<float> before = Values(shard());
  const std::string path = folder_ + "/" + ShardFileName(0, 1);
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size) - 1);
    file.put('\x7f');
  }
  EXPECT_EQ(Load(1).code(), absl::StatusCode::kDataLoss);
  std::filesystem::resize_file(path, size / 2);
  EXPECT_EQ(Load(1).code(), absl::StatusCode::kDataLoss);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(Load(1).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Values(shard()), before);
}

}  // namespace
}  // namespace paceline
