#include "worker/strategy/parameter_server.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

// Between two attempts to reach a shard.
constexpr absl::Duration kRetryPause = absl::Milliseconds(50);

}  // namespace

ParameterServerStrategy::ParameterServerStrategy(ParameterServerOptions options,
                                                 const ShardPlan& plan,
                                                 ModelState& state,
                                                 Stream& stream)
    : options_(std::move(options)),
      plan_(plan),
      state_(state),
      stream_(stream),
      element_size_(SizeOf(state.type())),
      calls_(plan.shard_count()) {
  CHECK_EQ(options_.servers.size(), static_cast<size_t>(plan.shard_count()));
  const v1::DataType type = state.type() == DataType::kFloat64
                                ? v1::DATA_TYPE_FLOAT64
                                : v1::DATA_TYPE_FLOAT32;
  std::vector<std::string> descriptions;
  for (int index = 0; index < plan.shard_count(); ++index) {
    if (plan.blocks(index).empty()) continue;
    const v1::Member& server = options_.servers[index];
    Shard& shard = shards_.emplace_back();
    shard.index = index;
    shard.client = std::make_unique<PsClient>(absl::StrCat("ps-", index),
                                              server.address());
    shard.pull_request.set_ps_incarnation(server.incarnation());
    shard.push_request.set_ps_incarnation(server.incarnation());
    *shard.push_request.mutable_worker() = options_.worker;
    shard.push_request.set_pull(true);
    for (const Block& block : plan.blocks(index)) {
      v1::Block* gradients = shard.push_request.add_gradients();
      gradients->set_index(block.index);
      gradients->set_dtype(type);
    }
    descriptions.push_back(shard.client->description());
  }
  const std::string callees = absl::StrJoin(descriptions, ", ");
  waiting_for_push_ = absl::StrCat("Push to ", callees);
  waiting_for_pull_ = absl::StrCat("Pull to ", callees);
}

ParameterServerStrategy::~ParameterServerStrategy() = default;

absl::Status ParameterServerStrategy::PullVariables() {
  options_.on_waiting(waiting_for_pull_);
  RETURN_IF_ERROR(
      CallAll([](Shard& shard, absl::Duration timeout, CallDone done) {
        shard.client->Pull(shard.pull_request, &shard.pull_response, timeout,
                           std::move(done));
      }));
  options_.on_waiting("");
  for (Shard& shard : shards_) {
    RETURN_IF_ERROR(TakeVariables(shard, shard.pull_response.variables()));
  }
  return UploadAll(plan_, state_, stream_);
}

absl::Status ParameterServerStrategy::GradientsReady(int bucket) {
  const absl::Span<const std::byte> gradients = state_.host_gradients(bucket);
  for (Shard& shard : shards_) {
    for (const Block& block : plan_.blocks(shard.index)) {
      if (block.bucket != bucket) continue;
      const absl::Span<const std::byte> part = gradients.subspan(
          block.bucket_offset * element_size_, block.count * element_size_);
      shard.push_request.mutable_gradients(block.index)
          ->mutable_dense()
          ->mutable_values()
          ->assign(reinterpret_cast<const char*>(part.data()), part.size());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ParameterServerStrategy::EndStep(
    const v1::Progress& progress) {
  ++sequence_;
  for (Shard& shard : shards_) {
    *shard.push_request.mutable_progress() = progress;
    shard.push_request.mutable_progress()->set_sequence(sequence_);
  }
  options_.on_waiting(waiting_for_push_);
  RETURN_IF_ERROR(
      CallAll([](Shard& shard, absl::Duration timeout, CallDone done) {
        shard.client->Push(shard.push_request, &shard.push_response, timeout,
                           std::move(done));
      }));
  options_.on_waiting("");
  uint64_t step = 0;
  for (Shard& shard : shards_) {
    RETURN_IF_ERROR(TakeVariables(shard, shard.push_response.variables()));
    step = std::max(step, shard.push_response.step());
  }
  RETURN_IF_ERROR(UploadAll(plan_, state_, stream_));
  return static_cast<int64_t>(step);
}

template <typename Start>
absl::Status ParameterServerStrategy::CallAll(Start start) {
  const absl::Time deadline = MonotonicNow() + options_.timeout;
  for (Shard& shard : shards_) {
    start(shard, options_.timeout, calls_.Open(shard.index));
  }
  while (true) {
    calls_.Wait();
    bool again = false;
    for (Shard& shard : shards_) {
      const absl::Status& status = calls_.status(shard.index);
      if (status.ok()) continue;
      if (!absl::IsUnavailable(status) || MonotonicNow() >= deadline) {
        return status;
      }
      again = true;
    }
    if (!again) return absl::OkStatus();
    absl::SleepFor(kRetryPause);
    for (Shard& shard : shards_) {
      if (calls_.status(shard.index).ok()) continue;
      start(shard, std::max(deadline - MonotonicNow(), kRetryPause),
            calls_.Open(shard.index));
    }
  }
}

absl::Status ParameterServerStrategy::TakeVariables(
    Shard& shard, const google::protobuf::RepeatedPtrField<v1::Block>& blocks) {
  const absl::Span<const Block> expected = plan_.blocks(shard.index);
  if (blocks.size() != static_cast<int>(expected.size())) {
    return absl::InternalError(
        absl::StrCat(shard.client->description(), " sent ", blocks.size(),
                     " blocks of variables, expected ", expected.size()));
  }
  for (const Block& block : expected) {
    const std::string& values = blocks[block.index].dense().values();
    if (values.size() != block.count * element_size_) {
      return absl::InternalError(
          absl::StrCat(shard.client->description(), " sent ", values.size(),
                       " bytes of block ", block.index, ", expected ",
                       block.count * element_size_));
    }
    std::memcpy(state_.host_variables(block.bucket).data() +
                    block.bucket_offset * element_size_,
                values.data(), values.size());
    shard.push_request.mutable_gradients(block.index)
        ->set_version(blocks[block.index].version());
  }
  return absl::OkStatus();
}

}  // namespace paceline
